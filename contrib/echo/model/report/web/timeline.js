// SPDX-License-Identifier: GPL-2.0-only
// The timeline of the ranks: a row a rank, compute above, communication below.
'use strict';
Echo.timeline = (() => {
  const { data, byId, make, colour, kindColour, KINDS, KIND_NAMES, formatTime, timeTicks, formatCount, percent, plural, tip } = Echo;
  const source = data.timeline;
  const unit = source.unit_us;
  const stepUs = data.summary.step_time_us;

  /** A lane with its blocks as arrays: starts and ends in units, names, counts, busy thousandths. */
  const decode = (lane) => {
    const numbers = lane.blocks;
    const out = { ...lane, start: [], end: [], name: [], count: [], busy: [] };
    let at = 0;
    for (let i = 0; i < numbers.length;) {
      const start = at + numbers[i++];
      at = start + numbers[i++];
      const name = numbers[i++];
      out.start.push(start);
      out.end.push(at);
      out.name.push(name < 0 ? -1 - name : name);
      out.count.push(name < 0 ? numbers[i++] : 1);
      out.busy.push(name < 0 ? numbers[i++] : 1000);
    }
    return out;
  };
  const lanes = source.lanes.map(decode);
  source.lanes = null; // the numbers are in lanes now
  const ranks = [...new Map(lanes.map((l) => [l.rank, { rank: l.rank, host: l.host, lanes: lanes.filter((m) => m.rank === l.rank) }])).values()];
  const kindsShown = KINDS.filter((k) => lanes.some((l) => l.kind === k));
  const isCommunication = (kind) => !['compute', 'copy', 'host'].includes(kind);

  let shown = ranks; // those in the chart now
  let view = [0, Math.max(stepUs, unit)];
  const whole = view;
  const LEFT = 64;
  const AXIS = 30;

  const rowHeight = () => Math.min(Math.max(Math.floor(720 / Math.max(shown.length, 1)), 5), 64);
  /** Where a kind stands in a row of height h: [offset, height], or null if there is no room. */
  const place = (kind, h, kinds) => {
    const inner = h >= 12 ? h - 3 : h - (h > 6 ? 1 : 0.5);
    if (h < 30) {
      if (kind === 'host') return null;
      return isCommunication(kind) ? [inner * 0.55, inner * 0.45] : [0, inner * 0.55];
    }
    const i = kinds.indexOf(kind);
    return [inner * i / kinds.length, inner / kinds.length - (inner / kinds.length > 6 ? 1 : 0)];
  };

  const firstEndingAfter = (lane, t) => {
    let low = 0;
    let high = lane.end.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.end[middle] < t) low = middle + 1; else high = middle;
    }
    return low;
  };

  let hatch = null;
  const makeHatch = (context) => {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const c = tile.getContext('2d');
    c.fillStyle = colour('waiting');
    c.fillRect(0, 0, 6, 6);
    c.strokeStyle = 'rgba(0,0,0,0.35)';
    c.lineWidth = 1.2;
    for (const x of [-6, 0, 6]) { c.beginPath(); c.moveTo(x, 6); c.lineTo(x + 6, 0); c.stroke(); }
    return context.createPattern(tile, 'repeat');
  };

  /** Draws one lane; blocks of less than a pixel are drawn together. @return rectangles drawn */
  const drawLane = (context, lane, y, h, scale, fill) => {
    const from = view[0] / unit;
    const until = view[1] / unit;
    const left = scale.left;
    const perUnit = (scale.right - scale.left) / (until - from);
    context.fillStyle = fill;
    let x0 = -1;
    let x1 = -1;
    let marks = 0;
    const labels = [];
    const flush = (wide) => {
      if (x1 < 0) return;
      const width = Math.max(x1 - x0, 0.7);
      context.fillRect(x0, y, wide && width > 3 ? width - 0.8 : width, h);
      ++marks;
    };
    for (let i = firstEndingAfter(lane, from); i < lane.start.length && lane.start[i] <= until; ++i) {
      const a = Math.max(left + (lane.start[i] - from) * perUnit, left);
      const b = Math.min(left + (lane.end[i] - from) * perUnit, scale.right);
      if (x1 >= 0 && a - x1 < 0.5 && (b - a < 3 || x1 - x0 < 3)) {
        x1 = Math.max(x1, b);
        continue;
      }
      flush(true);
      x0 = a;
      x1 = b;
      if (h >= 13 && b - a > 46 && !lane.waiting) labels.push([a, b, lane.name[i], lane.count[i]]);
    }
    flush(true);
    if (labels.length > 0) {
      context.fillStyle = '#fff';
      context.font = `11px ${Chart.defaults.font.family}`;
      context.textBaseline = 'middle';
      for (const [a, b, name, count] of labels) {
        const text = (count > 1 ? formatCount(count) + '\u00d7 ' : '') + source.names[name];
        const room = Math.floor((b - a - 10) / 5.8);
        context.fillText(text.length > room ? text.slice(0, Math.max(room - 1, 1)) + '\u2026' : text, a + 5, y + h / 2 + 0.5);
      }
    }
    return marks;
  };

  const painter = {
    id: 'echo-timeline',
    beforeDatasetsDraw(chart) {
      const context = chart.ctx;
      const area = chart.chartArea;
      const scale = chart.scales.x;
      const h = rowHeight();
      hatch = hatch || makeHatch(context);
      context.save();
      let marks = 0;
      const every = Math.ceil(14 / h);
      shown.forEach((row, r) => {
        const top = area.top + r * h;
        context.fillStyle = colour('row');
        context.fillRect(area.left, top, area.width, h >= 12 ? h - 3 : h - (h > 6 ? 1 : 0.5));
        if (r % every === 0) {
          context.fillStyle = colour('muted');
          context.font = `12px ${Chart.defaults.font.family}`;
          context.textAlign = 'right';
          context.textBaseline = 'middle';
          context.fillText((every === 1 && h > 16 ? 'rank ' : '') + row.rank, area.left - 8, top + Math.min(h / 2, 8 * every));
          context.textAlign = 'left';
        }
        for (const lane of [...row.lanes].sort((a, b) => (b.waiting ? 1 : 0) - (a.waiting ? 1 : 0))) {
          const spot = place(lane.kind, h, kindsShown);
          if (spot) marks += drawLane(context, lane, top + spot[0], spot[1], scale, lane.waiting ? hatch : kindColour(lane.kind));
        }
      });
      context.restore();
      Echo.countMarks(chart.canvas, marks);
    },
  };

  let chart = null;
  const box = byId('timeline-chart');
  const brush = make('div', { class: 'overlay brush' });
  const mark = make('div', { class: 'overlay mark' });

  const show = (from, until) => {
    const length = Math.min(Math.max(until - from, unit * 20), whole[1]);
    const start = Math.min(Math.max(from, 0), whole[1] - length);
    view = [start, start + length];
    const x = chart.options.scales.x;
    [x.min, x.max] = view;
    x.ticks.callback = timeTicks(length);
    mark.style.display = 'none';
    chart.update('none');
  };
  const zoom = (factor, at = (view[0] + view[1]) / 2) => show(at - (at - view[0]) * factor, at + (view[1] - at) * factor);

  const build = () => {
    hatch = null;
    box.style.height = shown.length * rowHeight() + AXIS + 'px';
    chart = new Chart(box.querySelector('canvas'), {
      type: 'scatter',
      data: { datasets: [{ data: [] }] },
      options: {
        events: [],
        layout: { padding: { left: LEFT, right: 12 } },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
        scales: {
          x: { type: 'linear', min: view[0], max: view[1], ticks: { maxRotation: 0, callback: timeTicks(view[1] - view[0]) } },
          y: { display: false, min: 0, max: 1 },
        },
      },
      plugins: [painter],
    });
    return chart;
  };

  /** The block under the mouse: { lane, i, row, spot } or null. */
  const find = (event) => {
    const bounds = chart.canvas.getBoundingClientRect();
    const area = chart.chartArea;
    const h = rowHeight();
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top - area.top;
    const r = Math.floor(y / h);
    if (x < area.left || x > area.right || r < 0 || r >= shown.length) return null;
    const t = chart.scales.x.getValueForPixel(x) / unit;
    const slack = 2 * (view[1] - view[0]) / unit / area.width;
    let best = null;
    for (const lane of shown[r].lanes) {
      const spot = place(lane.kind, h, kindsShown);
      if (!spot || y - r * h < spot[0] - 0.5 || y - r * h > spot[0] + spot[1] + 0.5) continue;
      for (let i = firstEndingAfter(lane, t - slack); i < lane.start.length && lane.start[i] <= t + slack; ++i) {
        const distance = Math.max(0, lane.start[i] - t, t - lane.end[i]) + (lane.waiting ? slack / 10 : 0);
        if (!best || distance < best.distance) best = { lane, i, row: r, spot, distance };
      }
    }
    return best;
  };

  const describe = ({ lane, i }) => {
    const start = lane.start[i] * unit;
    const length = (lane.end[i] - lane.start[i]) * unit;
    const name = source.names[lane.name[i]];
    const count = lane.count[i];
    const what = lane.waiting ? 'Waiting: ' + name : name;
    return [
      count > 1 ? `${formatCount(count)} operators, the longest: ${name}` : what,
      (lane.waiting ? 'waiting for other ranks, ' : '') + (KIND_NAMES[lane.kind] || lane.kind) +
        (isCommunication(lane.kind) && lane.kind !== 'world' ? ' communication' : ''),
      `rank ${lane.rank}` + (lane.host === undefined ? '' : `, host ${lane.host}`) + `, stream ${lane.stream}`,
      `from ${formatTime(source.begin_us + start, 7)}, for ${formatTime(length)}` + (count > 1 ? `, ${percent(lane.busy[i] / 1000, 0)} of it busy` : ''),
    ];
  };

  const listen = () => {
    let drag = null;
    const canvas = box.querySelector('canvas');
    const timeAt = (event) => chart.scales.x.getValueForPixel(event.clientX - canvas.getBoundingClientRect().left);
    box.append(brush, mark);
    canvas.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) return;
      drag = { x: e.clientX, t: timeAt(e), pan: e.shiftKey, view };
      canvas.setPointerCapture(e.pointerId);
      tip.hide();
    });
    canvas.addEventListener('pointermove', (e) => {
      const area = chart.chartArea;
      if (drag && drag.pan) {
        const by = (drag.x - e.clientX) * (drag.view[1] - drag.view[0]) / area.width;
        show(drag.view[0] + by, drag.view[1] + by);
      } else if (drag) {
        const left = canvas.getBoundingClientRect().left;
        const a = Math.max(Math.min(drag.x, e.clientX) - left, area.left);
        const b = Math.min(Math.max(drag.x, e.clientX) - left, area.right);
        Object.assign(brush.style, { display: 'block', left: a + 'px', width: Math.max(b - a, 0) + 'px', top: area.top + 'px', height: area.height + 'px' });
      } else {
        const hit = find(e);
        if (hit) tip.show(e, describe(hit)); else tip.hide();
        mark.style.display = 'none';
        if (hit) {
          const scale = chart.scales.x;
          const a = Math.max(scale.getPixelForValue(hit.lane.start[hit.i] * unit), area.left);
          const b = Math.min(scale.getPixelForValue(hit.lane.end[hit.i] * unit), area.right);
          const top = area.top + hit.row * rowHeight() + hit.spot[0];
          Object.assign(mark.style, { display: 'block', left: a - 2 + 'px', width: Math.max(b - a, 1) + 4 + 'px', top: top - 2 + 'px', height: hit.spot[1] + 4 + 'px' });
        }
      }
    });
    const drop = (e) => {
      brush.style.display = 'none';
      if (drag && !drag.pan && Math.abs(e.clientX - drag.x) > 4) {
        const t = timeAt(e);
        show(Math.min(t, drag.t), Math.max(t, drag.t));
      }
      drag = null;
    };
    canvas.addEventListener('pointerup', drop);
    canvas.addEventListener('pointercancel', () => { drag = null; brush.style.display = 'none'; });
    canvas.addEventListener('pointerleave', () => { tip.hide(); mark.style.display = 'none'; });
    canvas.addEventListener('dblclick', () => show(...whole));
    canvas.addEventListener('wheel', (e) => {
      if (e.ctrlKey || e.metaKey) {
        e.preventDefault();
        zoom(Math.exp(e.deltaY * 0.002), timeAt(e));
      } else if (e.deltaX !== 0 && Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
        e.preventDefault();
        const by = e.deltaX * (view[1] - view[0]) / chart.chartArea.width;
        show(view[0] + by, view[1] + by);
      }
    }, { passive: false });
    box.addEventListener('keydown', (e) => {
      const by = (view[1] - view[0]) / 5;
      const moves = { ArrowLeft: () => show(view[0] - by, view[1] - by), ArrowRight: () => show(view[0] + by, view[1] + by),
        '+': () => zoom(0.6), '-': () => zoom(1 / 0.6), Home: () => show(...whole) };
      if (moves[e.key]) { e.preventDefault(); moves[e.key](); }
    });
    byId('timeline-in').addEventListener('click', () => zoom(0.5));
    byId('timeline-out').addEventListener('click', () => zoom(2));
    byId('timeline-all').addEventListener('click', () => show(...whole));
  };

  const choose = (list) => {
    shown = list.length > 0 ? list : ranks;
    box.style.height = shown.length * rowHeight() + AXIS + 'px';
    chart.resize();
    show(...view);
  };
  /** "0-7, 16" as a list of ranks. */
  const parseRanks = (text) => {
    const parts = text.split(',').map((p) => p.trim().match(/^(\d+)(?:\s*-\s*(\d+))?$/)).filter(Boolean);
    return ranks.filter(({ rank }) => parts.some(([, a, b]) => rank >= Number(a) && rank <= Number(b === undefined ? a : b)));
  };

  const addChoices = () => {
    const select = byId('timeline-ranks');
    const filter = byId('timeline-filter');
    const hosts = [...new Set(ranks.map((r) => r.host))].filter((h) => h !== undefined);
    select.append(make('option', { value: '' }, `all ${ranks.length}`));
    if (hosts.length > 1) hosts.forEach((h) => select.append(make('option', { value: String(h) }, `of host ${h}`)));
    select.addEventListener('change', () => {
      filter.value = '';
      choose(select.value === '' ? ranks : ranks.filter((r) => String(r.host) === select.value));
    });
    filter.addEventListener('change', () => { select.value = ''; choose(parseRanks(filter.value)); });
  };

  const addTo = () => {
    if (lanes.length === 0) {
      byId('timeline').hidden = true;
      return;
    }
    const all = data.summary.ranks;
    const merged = source.resolution_us > 0
      ? ` Neighbours shorter than ${formatTime(source.resolution_us, 2)} are drawn as one block; timeline.json has each operator.` : '';
    byId('timeline-note').textContent = (ranks.length < all ? `${ranks.length} of ${plural(all, 'rank')}, spread evenly. ` : '') +
      'In each row compute stands above, communication below, hatched where it waits for other ranks; grey is idle.' + merged;
    addChoices();
    Echo.addChart(() => {
      Echo.legend(byId('timeline-legend'), [...kindsShown.map((k) => [KIND_NAMES[k], kindColour(k)]),
        ...(lanes.some((l) => l.waiting) ? [[KIND_NAMES.waiting, colour('waiting'), true]] : [])]);
      return build();
    });
    listen();
  };
  return { addTo };
})();
