// SPDX-License-Identifier: GPL-2.0-only
// The timeline of the ranks: a row a rank, compute above, communication below.
'use strict';
Echo.timeline = (() => {
  const { data, byId, make, colour, kindColour, KINDS, KIND_NAMES, formatTime, timeTicks, formatCount, percent, plural, tip } = Echo;
  const unit = Math.min(...data.timelines.map((t) => t.unit_us));
  const stepUs = data.summary.step_time_us;

  /** A lane with its blocks as arrays: starts and ends in units, names, counts, busy percent. */
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
      out.busy.push(name < 0 ? numbers[i++] : 100);
    }
    return out;
  };
  const lanes = data.timelines.flatMap((t) => {
    const isSlowed = t.names.map((name) => name.endsWith(' (slowed by overlap)'));
    return t.lanes.map((lane) => {
      const out = { ...decode(lane), names: t.names, resolution: t.resolution_us, isSlowed };
      out.slowed = out.name.some((name) => isSlowed[name]);
      return out;
    });
  });
  const begin = data.timelines[0].begin_us;
  data.timelines.forEach((t) => { t.lanes = null; }); // the numbers are in lanes now
  lanes.sort((a, b) => a.rank - b.rank);
  const jobs = data.summary.jobs || [];
  const jobOf = (rank) => jobs.find((j) => rank >= j.first_rank && rank < j.first_rank + j.ranks);
  const coarsest = Math.max(...data.timelines.map((t) => t.resolution_us));
  const ranks = [...new Map(lanes.map((l) => [l.rank, { rank: l.rank, host: l.host, lanes: lanes.filter((m) => m.rank === l.rank) }])).values()];
  const detailed = coarsest > 0 ? ranks.filter((r) => r.lanes.every((l) => l.resolution < coarsest)) : [];
  const kindsShown = KINDS.filter((k) => lanes.some((l) => l.kind === k));
  const isCommunication = (kind) => !['compute', 'copy', 'host'].includes(kind);

  /** Streams of one kind that are busy at the same time stand below one another: tracks by kind. */
  const tracks = Object.fromEntries(kindsShown.map((k) => [k, 1]));
  const overlap = (list) => {
    const spans = list.flatMap((l) => l.start.map((start, i) => [start, l.end[i], l.stream])).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const ends = new Map();
    return spans.some(([start, end, stream]) => {
      const clash = [...ends].some(([other, until]) => other !== stream && until > start);
      ends.set(stream, Math.max(end, ends.get(stream) || 0));
      return clash;
    });
  };
  for (const row of ranks) {
    for (const kind of kindsShown) {
      const own = row.lanes.filter((l) => l.kind === kind);
      const streams = [...new Set(own.map((l) => l.stream))].sort((a, b) => a - b);
      own.forEach((l) => { l.track = streams.indexOf(l.stream); });
      if (streams.length > tracks[kind] && overlap(own)) tracks[kind] = streams.length;
    }
  }

  let shown = ranks; // those in the chart now
  let view = [0, Math.max(stepUs, unit)];
  const whole = view;
  const LEFT = 64 + 7 * Math.min(Math.max(0, ...jobs.map((j) => j.name.length)), 20);
  const AXIS = 37; // and the padding above

  const rowHeight = () => Math.min(Math.max(Math.floor(720 / Math.max(shown.length, 1)), 5), 64);
  /** Where a lane stands in a row of height h: [offset, height], or null if there is no room. */
  const place = ({ kind, track }, h, kinds) => {
    const inner = h >= 12 ? h - 3 : h - (h > 6 ? 1 : 0.5);
    if (h < 30 && kind === 'host') return null;
    const i = kinds.indexOf(kind);
    const [top, height] = h < 30 ? (isCommunication(kind) ? [inner * 0.55, inner * 0.45] : [0, inner * 0.55])
      : [inner * i / kinds.length, inner / kinds.length];
    const each = height / tracks[kind];
    return [top + each * (track % tracks[kind]), each - (h >= 30 && each > 6 ? 1 : 0)];
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

  /**
   * Blocks of a few pixels are not drawn one by one: their share of each pixel's time
   * becomes the pixel's opacity, so that what is busy half of the time looks half as strong. They
   * are gathered in an image of one line a lane.
   */
  const density = {
    canvas: document.createElement('canvas'),
    start(width, lines) {
      this.width = Math.max(width, 1);
      this.shares = new Float32Array(this.width);
      this.image = new ImageData(this.width, Math.max(lines, 1));
      this.spots = [];
    },
    /** Adds a span of pixels with the share of it that is busy. */
    add(a, b, busy) {
      this.any = true;
      const from = Math.min(Math.max(a, 0), this.width - 1e-3);
      const until = Math.min(Math.max(b, from + 1e-3), this.width);
      for (let x = Math.floor(from); x < until; ++x) this.shares[x] += busy * (Math.min(x + 1, until) - Math.max(x, from));
    },
    finishLane(rgb, y, h) {
      if (!this.any) return;
      const line = this.spots.length;
      const pixels = this.image.data;
      for (let x = 0, at = line * this.width * 4; x < this.width; ++x, at += 4) {
        if (this.shares[x] > 0) {
          [pixels[at], pixels[at + 1], pixels[at + 2]] = rgb;
          pixels[at + 3] = 255 * Math.min(1, 0.2 + 0.8 * this.shares[x]); // the faintest can be seen
        }
      }
      this.spots.push([y, h]);
      this.shares.fill(0);
      this.any = false;
    },
    draw(context, left, width) {
      this.canvas.width = this.image.width;
      this.canvas.height = this.image.height;
      this.canvas.getContext('2d').putImageData(this.image, 0, 0);
      context.imageSmoothingEnabled = false;
      this.spots.forEach(([y, h], line) => context.drawImage(this.canvas, 0, line, this.width, 1, left, y, width, h));
    },
  };
  const rgbOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

  /**
   * Draws the wide blocks of a lane, those that are slowed or the others, and hands the narrow ones
   * to density. @return blocks in view
   */
  const drawLane = (context, lane, y, h, scale, fill, rgb, slowed) => {
    const from = view[0] / unit;
    const until = view[1] / unit;
    const left = scale.left;
    const perUnit = (scale.right - scale.left) / (until - from);
    const dense = density.width / (until - from);
    const narrow = h < 10 ? 6 : 2;
    let marks = 0;
    const labels = [];
    context.fillStyle = fill;
    for (let i = firstEndingAfter(lane, from); i < lane.start.length && lane.start[i] <= until; ++i) {
      if (lane.isSlowed[lane.name[i]] !== slowed) continue;
      ++marks;
      const width = (lane.end[i] - lane.start[i]) * perUnit;
      if (width < narrow) {
        density.add((lane.start[i] - from) * dense, (lane.end[i] - from) * dense, lane.busy[i] / (lane.waiting && h < 6 ? 180 : 100));
        continue;
      }
      const a = Math.max(left + (lane.start[i] - from) * perUnit, left);
      const b = Math.min(left + (lane.end[i] - from) * perUnit, scale.right);
      context.globalAlpha = (lane.count[i] > 1 ? 0.3 + 0.007 * lane.busy[i] : 1) * (lane.waiting && h < 6 ? 0.55 : 1);
      context.fillRect(a, y, width > 4 ? b - a - 0.8 : b - a, h); // a hair between neighbours
      if (h >= 13 && b - a > 46 && !lane.waiting) labels.push([a, b, lane.name[i], lane.count[i]]);
    }
    context.globalAlpha = 1;
    density.finishLane(rgb, y, h);
    if (labels.length > 0) {
      context.fillStyle = slowed ? colour('back') : '#fff';
      context.font = `11px ${Chart.defaults.font.family}`;
      context.textBaseline = 'middle';
      for (const [a, b, name, count] of labels) {
        const text = (count > 1 ? formatCount(count) + '\u00d7 ' : '') + lane.names[name];
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
      const colours = Object.fromEntries([...kindsShown, 'waiting', 'slowed'].map((k) => [k, KINDS.includes(k) ? kindColour(k) : colour(k)]));
      density.start(Math.round(area.width * chart.currentDevicePixelRatio), shown.reduce((n, r) => n + r.lanes.reduce((m, l) => m + (l.slowed ? 2 : 1), 0), 0));
      context.save();
      let marks = 0;
      const every = Math.ceil(14 / h);
      const [rowColour, textColour] = [colour('row'), colour('muted')]; // asking is slow
      shown.forEach((row, r) => {
        const top = area.top + r * h;
        context.fillStyle = rowColour;
        context.fillRect(area.left, top, area.width, h >= 12 ? h - 3 : h - (h > 6 ? 1 : 0.5));
        if (r % every === 0) {
          context.fillStyle = textColour;
          context.font = `12px ${Chart.defaults.font.family}`;
          context.textAlign = 'right';
          context.textBaseline = 'middle';
          const job = jobOf(row.rank);
          context.fillText((job ? job.name.slice(0, 20) + ' ' : every === 1 && h > 16 ? 'rank ' : '') + row.rank, area.left - 8, top + Math.min(h / 2, 8 * every));
          context.textAlign = 'left';
        }
        if (r > 0 && jobOf(row.rank) !== jobOf(shown[r - 1].rank)) { // between two jobs
          context.fillStyle = textColour;
          context.fillRect(0, top - 1, area.right, 1);
        }
        for (const lane of [...row.lanes].sort((a, b) => (b.waiting ? 1 : 0) - (a.waiting ? 1 : 0))) {
          const spot = place(lane, h, kindsShown);
          const base = colours[lane.waiting ? 'waiting' : lane.kind];
          if (!spot) continue;
          marks += drawLane(context, lane, top + spot[0], spot[1], scale, lane.waiting && h >= 12 ? hatch : base, rgbOf(base), false);
          if (lane.slowed) marks += drawLane(context, lane, top + spot[0], spot[1], scale, colours.slowed, rgbOf(colours.slowed), true);
        }
      });
      density.draw(context, area.left, area.width);
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
        layout: { padding: { left: LEFT, right: 12, top: 7 } },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
        scales: {
          x: { type: 'linear', min: view[0], max: view[1], ticks: { maxRotation: 0, includeBounds: false, callback: timeTicks(view[1] - view[0]) } },
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
      const spot = place(lane, h, kindsShown);
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
    const name = lane.names[lane.name[i]];
    const count = lane.count[i];
    const what = lane.waiting ? 'Waiting: ' + name : name;
    return [
      count > 1 ? `${formatCount(count)} operators, the longest: ${name}` : what,
      (lane.waiting ? 'waiting for other ranks, ' : '') + (KIND_NAMES[lane.kind] || lane.kind) +
        (isCommunication(lane.kind) && lane.kind !== 'world' ? ' communication' : ''),
      (jobOf(lane.rank) ? `job ${jobOf(lane.rank).name}, ` : '') + `rank ${lane.rank}` + (lane.host === undefined ? '' : `, host ${lane.host}`) + `, stream ${lane.stream}`,
      `from ${formatTime(begin + start, 7)}, for ${formatTime(length)}` + (count > 1 ? `, ${percent(lane.busy[i] / 100, 0)} of it busy` : ''),
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
    if (detailed.length > 0) select.append(make('option', { value: 'detailed' }, `in detail (${detailed.length})`));
    if (hosts.length > 1) hosts.forEach((h) => select.append(make('option', { value: String(h) }, `of host ${h}`)));
    jobs.forEach((j) => select.append(make('option', { value: 'job ' + j.name }, `of job ${j.name}`)));
    select.addEventListener('change', () => {
      filter.value = '';
      choose(select.value === '' ? ranks : select.value === 'detailed' ? detailed
        : ranks.filter((r) => String(r.host) === select.value || (jobOf(r.rank) && 'job ' + jobOf(r.rank).name === select.value)));
    });
    filter.addEventListener('change', () => { select.value = ''; choose(parseRanks(filter.value)); });
  };

  const addTo = () => {
    if (lanes.length === 0) {
      byId('timeline').hidden = true;
      return;
    }
    const all = data.summary.ranks;
    const merged = coarsest > 0 ? ` Operators within ${formatTime(coarsest, 2)} may be one block` +
      (detailed.length > 0 ? `; ranks ${detailed.map((r) => r.rank).join(', ')} have finer ones` : '') + '. timeline.json has each operator.' : '';
    byId('timeline-note').textContent = (ranks.length < all ? `${formatCount(ranks.length)} of ${plural(all, 'rank')} are shown. ` : '') +
      'In each row compute stands above, communication below, hatched where it waits for other ranks; grey is idle.' + merged;
    addChoices();
    Echo.addChart(() => {
      Echo.legend(byId('timeline-legend'), [...kindsShown.map((k) => [KIND_NAMES[k], kindColour(k)]),
        ...(lanes.some((l) => l.slowed) ? [[KIND_NAMES.slowed, colour('slowed')]] : []),
        ...(lanes.some((l) => l.waiting) ? [[KIND_NAMES.waiting, colour('waiting'), true]] : [])]);
      return build();
    });
    listen();
  };
  return { addTo, show, showRanks: (text) => choose(parseRanks(text)) };
})();
