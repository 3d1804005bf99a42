// SPDX-License-Identifier: GPL-2.0-only
// The topology in layers, links coloured by load.
'use strict';
Echo.network = (() => {
  const { data, byId, make, colour, loadColour, formatBytes, formatCount, percent, plural, tip } = Echo;
  const { layers, nodes, edges } = data.network;

  const most = (edge, get) => Math.max(0, ...edge.loads.map((l) => (l.bytes ? get(l) : 0)));
  const MEASURES = {
    utilisation: { name: 'utilisation over the step', get: (e) => most(e, (l) => l.largest), share: true },
    peak: { name: 'largest utilisation at one time', get: (e) => most(e, (l) => l.peak), share: true },
    queue: { name: 'largest queue', get: (e) => most(e, (l) => l.queue), text: formatBytes },
    marks: { name: 'ECN marks', get: (e) => most(e, (l) => l.marks), text: formatCount },
    pauses: { name: 'PFC pauses', get: (e) => most(e, (l) => l.pauses), text: formatCount },
    drops: { name: 'drops', get: (e) => most(e, (l) => l.drops), text: formatCount },
  };
  let measure = MEASURES.utilisation;
  let plain = false; // no loads: the lines in one colour

  const counts = layers.map((_, layer) => nodes.filter((n) => n[1] === layer).length);
  const seen = layers.map(() => 0);
  const spots = nodes.map(([label, layer]) => ({ label, layer, x: (seen[layer]++ + 0.5) / counts[layer], y: layer }));
  /** The load at the end of the colour scale: 100 %, or the largest where that is far off. */
  const largest = () => {
    const most = Math.max(...edges.map(measure.get));
    return measure.share ? ((most >= 0.25 && most <= 1) || most === 0 ? 1 : most) : Math.max(1, most);
  };

  const pixel = (chart, spot) => [chart.scales.x.getPixelForValue(spot.x), chart.scales.y.getPixelForValue(spot.y)];
  const painter = {
    id: 'echo-network',
    beforeDatasetsDraw(chart) {
      const context = chart.ctx;
      const top = largest();
      const order = edges.map((e) => [measure.get(e) / top, e]).sort((a, b) => a[0] - b[0]);
      context.save();
      context.lineCap = 'round';
      const plainColour = colour('muted');
      for (const [load, edge] of order) {
        const [x0, y0] = pixel(chart, spots[edge.a]);
        const [x1, y1] = pixel(chart, spots[edge.b]);
        context.strokeStyle = plain ? plainColour : loadColour(load);
        context.lineWidth = (edges.length > 600 ? 0.6 : 1.1) + 3 * load;
        context.beginPath();
        context.moveTo(x0, y0);
        if (edge.a !== edge.b && spots[edge.a].layer === spots[edge.b].layer) {
          context.quadraticCurveTo((x0 + x1) / 2, y0 - 40, x1, y1);
        } else {
          context.lineTo(x1, y1);
        }
        context.stroke();
      }
      context.restore();
      Echo.countMarks(chart.canvas, edges.length + nodes.length);
    },
    afterDatasetsDraw(chart) {
      const context = chart.ctx;
      context.save();
      context.font = `12px ${Chart.defaults.font.family}`;
      context.fillStyle = colour('muted');
      context.textBaseline = 'middle';
      layers.forEach((name, layer) => {
        const y = chart.scales.y.getPixelForValue(layer);
        context.textAlign = 'right';
        context.fillText(name, chart.chartArea.left - 12, y);
      });
      context.textAlign = 'center';
      context.strokeStyle = colour('back'); // a halo over the lines behind
      context.lineWidth = 4;
      context.lineJoin = 'round';
      layers.forEach((_, layer) => {
        const list = spots.filter((s) => s.layer === layer);
        const room = chart.chartArea.width / list.length;
        const wide = Math.max(...list.map((s) => context.measureText(s.label).width)) + 10;
        const every = Math.ceil(wide / room);
        const below = layer === 0;
        list.forEach((spot, i) => {
          if (i % every !== 0) return;
          const [x, y] = pixel(chart, spot);
          context.strokeText(spot.label, x, y + (below ? 18 : -17));
          context.fillText(spot.label, x, y + (below ? 18 : -17));
        });
      });
      context.restore();
    },
  };

  const distance = (px, py, [x0, y0], [x1, y1]) => {
    const dx = x1 - x0;
    const dy = y1 - y0;
    const t = Math.min(Math.max(((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy || 1), 0), 1);
    return Math.hypot(px - x0 - t * dx, py - y0 - t * dy);
  };
  const direction = (edge, side) => {
    const load = edge.loads[side];
    const [from, to] = side === 0 ? [edge.a, edge.b] : [edge.b, edge.a];
    const head = `${nodes[from][0]} \u2192 ${nodes[to][0]}: `;
    if (!load.bytes) return head + 'unused';
    const extras = [['marks', 'ECN mark'], ['pauses', 'pause'], ['drops', 'drop']].filter(([k]) => load[k] > 0).map(([k, n]) => plural(load[k], n));
    return head + percent(load.largest) + (edge.links > 1 ? ` (mean of its links ${percent(load.mean)})` : '') +
      (load.peak > 0 ? `, peak ${percent(load.peak, 0)}` : '') + `, ${formatBytes(load.bytes)}` + (load.queue > 0 ? `, queue up to ${formatBytes(load.queue)}` : '') +
      (extras.length > 0 ? ', ' + extras.join(', ') : '');
  };
  const listen = (entry) => {
    const canvas = byId('network-chart').querySelector('canvas');
    canvas.addEventListener('pointermove', (event) => {
      const bounds = canvas.getBoundingClientRect();
      const x = event.clientX - bounds.left;
      const y = event.clientY - bounds.top;
      let best = null;
      for (const edge of edges) {
        const d = distance(x, y, pixel(entry.chart, spots[edge.a]), pixel(entry.chart, spots[edge.b]));
        if (d < 7 && (!best || d < best.d)) best = { d, edge };
      }
      if (!best) { tip.hide(); return; }
      const { edge } = best;
      tip.show(event, [`${nodes[edge.a][0]} \u2013 ${nodes[edge.b][0]}: ${plural(edge.links, 'link')} of ${edge.rate_GBps.toLocaleString('en-US')} GB/s`,
        ...(plain ? [] : [direction(edge, 0), direction(edge, 1)])]);
    });
    canvas.addEventListener('pointerleave', () => tip.hide());
  };

  const build = () => new Chart(byId('network-chart').querySelector('canvas'), {
    type: 'scatter',
    data: { datasets: [{
      data: spots, clip: false, pointStyle: 'rectRounded', pointRadius: Math.max(...counts) > 200 ? 3 : 6,
      backgroundColor: colour('text'), borderColor: colour('back'), borderWidth: 1.5,
    }] },
    options: {
      events: [],
      layout: { padding: { left: 118, right: 24, top: 28, bottom: 28 } },
      plugins: { legend: { display: false }, tooltip: { enabled: false } },
      scales: { x: { display: false, min: 0, max: 1 }, y: { display: false, min: 0, max: Math.max(layers.length - 1, 1) } },
    },
    plugins: [painter],
  });

  const setHeight = () => { byId('network-chart').style.height = 110 + 130 * Math.max(layers.length - 1, 1) + 'px'; };

  const addTo = () => {
    const loaded = edges.filter((e) => MEASURES.utilisation.get(e) > 0).length;
    if (loaded === 0) {
      byId('network-note').textContent = 'No link carried bytes.';
      byId('network-body').hidden = true;
      return;
    }
    byId('network-note').textContent = 'A line is all links between two nodes, in the colour of the most loaded link and direction. ' +
      (loaded === edges.length ? '' : `${formatCount(loaded)} of ${plural(edges.length, 'line')} carried bytes. `) +
      (data.network.edges_left_out > 0 ? `${plural(data.network.edges_left_out, 'less loaded line')} left out.` : '');
    setHeight();
    const select = byId('network-measure');
    for (const [key, m] of Object.entries(MEASURES)) {
      if (key === 'utilisation' || edges.some((e) => m.get(e) > 0)) select.append(make('option', { value: key }, m.name));
    }
    const entry = Echo.addChart(build);
    const relabel = () => {
      byId('network-low').textContent = measure.share ? '0 %' : '0';
      byId('network-high').textContent = measure.share ? percent(largest(), largest() < 1 ? 1 : 0) : measure.text(largest());
    };
    select.addEventListener('change', () => { measure = MEASURES[select.value]; relabel(); entry.chart.update('none'); });
    relabel();
    listen(entry);
  };
  /** The network alone, without loads. */
  const addPlain = () => {
    plain = true;
    byId('network-note').textContent = 'A line is all links between two nodes.' +
      (data.network.edges_left_out > 0 ? ` ${plural(data.network.edges_left_out, 'line')} left out.` : '');
    setHeight();
    listen(Echo.addChart(build));
  };
  return { addTo, addPlain };
})();
