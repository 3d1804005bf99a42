// SPDX-License-Identifier: GPL-2.0-only
// The page that compares the fidelities.
'use strict';
(() => {
  const { data, byId, make, colour, formatTime, timeTicks, formatBytes, formatCount, percent, plural } = Echo;
  const rows = data.rows;
  const FIDELITIES = [['analytical', 'analytical', 'exposed', 'circle'], ['flow', 'flow', 'compute', 'triangle']];
  const error = (row, fidelity) => (row.packet && row[fidelity] ? row[fidelity] / row.packet - 1 : NaN);
  const signed = (x) => (Number.isNaN(x) ? '\u2013' : (x > 0 ? '+' : '') + percent(x));
  const describe = (row) => `${row.group} ${row.operation}, ${formatBytes(row.bytes)}, ${plural(row.ranks, 'rank')} on ${plural(row.hosts, 'host')}`;
  const points = (fidelity, get) => rows.filter((r) => !Number.isNaN(error(r, fidelity))).map((r) => ({ ...get(r), row: r }));

  const addHead = () => {
    byId('title').textContent = data.title;
    const cards = [['Communications', formatCount(rows.length), plural(rows.reduce((n, r) => n + r.instances, 0), 'instance') + ' in the scenario', '']];
    for (const [fidelity, name] of FIDELITIES) {
      const e = data.errors[fidelity];
      if (e.rows === 0) continue;
      cards.push([`${name}: mean error`, percent(e.mean, 2), `of ${plural(e.rows, 'communication')}`, 'main'],
        [`${name}: worst error`, percent(e.worst, 2), `${formatCount(e.within5)} within 5 %, ${formatCount(e.within10)} within 10 %`, '']);
    }
    byId('cards').replaceChildren(...cards.map(([label, value, detail, type]) => make('div', { class: 'card ' + type },
      make('div', { class: 'label' }, label), make('div', { class: 'value' }, value), make('div', { class: 'detail' }, detail))));
  };

  const fade = (name, share) => colour(name) + Math.round(share * 255).toString(16).padStart(2, '0');
  const style = ([, name, tone, pointStyle]) => ({
    label: name, backgroundColor: fade(tone, 0.75), borderColor: colour(tone), borderWidth: 1, pointStyle,
    pointRadius: 5, pointHoverRadius: 7,
  });
  const tooltip = { callbacks: {
    title: ([item]) => describe(item.raw.row),
    label: (item) => {
      const r = item.raw.row;
      return [`packet ${formatTime(r.packet)}`, ...FIDELITIES.filter(([f]) => r[f]).map(([f, n]) => `${n} ${formatTime(r[f])} (${signed(error(r, f))})`),
        `${r.algorithm}, ${r.protocol}, ${plural(r.channels, 'channel')}` + (r.extrapolated ? ', extrapolated' : '')];
    },
  }, filter: (item) => item.raw.row !== undefined, displayColors: false };
  const legend = { position: 'bottom', labels: { usePointStyle: true, filter: (item) => item.text !== undefined && item.text !== '' } };
  /** Labels a logarithmic axis at 1, or at 1, 2 and 5 of each decade where it spans few. */
  const decades = (get, low, high) => (value) => {
    const first = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
    return (high / low < 200 ? [1, 2, 5] : [1]).includes(first) ? get(value) : null;
  };

  const addScatter = () => Echo.addChart(() => {
    const canvas = byId('scatter-chart').querySelector('canvas');
    const sets = FIDELITIES.map((f) => ({ ...style(f), data: points(f[0], (r) => ({ x: r.packet, y: r[f[0]] })) }));
    const times = sets.flatMap((s) => s.data.flatMap((p) => [p.x, p.y]));
    const [low, high] = [Math.min(...times) / 1.6, Math.max(...times) * 1.6];
    const line = (factor, extra) => ({ type: 'line', label: '', data: [{ x: low, y: low * factor }, { x: high, y: high * factor }], pointRadius: 0, pointHitRadius: 0, borderWidth: 0, ...extra });
    const band = (share) => ({ fill: '+1', backgroundColor: fade('accent', share) });
    Echo.countMarks(canvas, sets.reduce((n, s) => n + s.data.length, 0));
    const scale = (title) => ({ type: 'logarithmic', min: low, max: high, title: { display: true, text: title }, ticks: { callback: decades((x) => timeTicks(x)(x), low, high), maxRotation: 0 } });
    return new Chart(canvas, {
      type: 'scatter',
      data: { datasets: [...sets.filter((s) => s.data.length > 0), line(1, { borderWidth: 1, borderColor: colour('muted') }),
        line(1.05, band(0.16)), line(0.95, {}), line(1.1, band(0.1)), line(0.9, {})] },
      options: { plugins: { legend, tooltip }, scales: { x: scale('packet fidelity'), y: scale('the other fidelity') } },
    });
  });

  const addErrors = () => Echo.addChart(() => {
    const canvas = byId('error-chart').querySelector('canvas');
    const sets = FIDELITIES.map((f) => ({ ...style(f), data: points(f[0], (r) => ({ x: Math.max(r.bytes, 1), y: 100 * error(r, f[0]) })) }));
    const all = sets.flatMap((s) => s.data);
    const [low, high] = [Math.min(...all.map((p) => p.x)) / 2, Math.max(...all.map((p) => p.x)) * 2];
    const most = Math.max(12, ...all.map((p) => Math.abs(p.y) * 1.1));
    const line = (y, extra) => ({ type: 'line', label: '', data: [{ x: low, y }, { x: high, y }], pointRadius: 0, pointHitRadius: 0, borderWidth: 0, ...extra });
    const band = (share) => ({ fill: '+1', backgroundColor: fade('accent', share) });
    Echo.countMarks(canvas, all.length);
    return new Chart(canvas, {
      type: 'scatter',
      data: { datasets: [...sets.filter((s) => s.data.length > 0), line(0, { borderWidth: 1, borderColor: colour('muted') }),
        line(5, band(0.16)), line(-5, {}), line(10, band(0.1)), line(-10, {})] },
      options: {
        plugins: { legend, tooltip },
        scales: {
          x: {
            type: 'logarithmic', min: low, max: high, title: { display: true, text: 'size' },
            afterBuildTicks: (axis) => {
              const from = Math.ceil(Math.log2(low));
              const step = Math.max(1, Math.ceil((Math.log2(high) - from) / 8));
              axis.ticks = Array.from({ length: 40 }, (_, i) => ({ value: 2 ** (from + i * step) })).filter((t) => t.value <= high);
            },
            ticks: { callback: (x) => formatBytes(x), maxRotation: 0 },
          },
          y: { min: -most, max: most, title: { display: true, text: 'error' }, ticks: { includeBounds: false, callback: (y) => `${y > 0 ? '+' : ''}${y} %` } },
        },
      },
    });
  });

  const addTable = () => {
    const time = (key, title) => ({ title, value: (r) => r[key] || 0, text: (r) => (r[key] ? formatTime(r[key]) : '\u2013') });
    const errorOf = (key) => ({ title: 'Error', value: (r) => { const e = Math.abs(error(r, key)); return Number.isNaN(e) ? -1 : e; }, text: (r) => signed(error(r, key)) });
    Echo.fillTable(byId('rows-table'), [
      { title: 'Group', left: true, value: (r) => r.group }, { title: 'Operation', left: true, value: (r) => r.operation },
      { title: 'Ranks', value: (r) => r.ranks }, { title: 'Hosts', value: (r) => r.hosts },
      { title: 'Size', value: (r) => r.bytes, text: (r) => formatBytes(r.bytes) },
      { title: 'Algorithm', left: true, value: (r) => r.algorithm }, { title: 'Protocol', left: true, value: (r) => r.protocol },
      { title: 'Channels', value: (r) => r.channels }, { title: 'Instances', value: (r) => r.instances, text: (r) => formatCount(r.instances) },
      time('packet', 'Packet'), time('flow', 'Flow'), errorOf('flow'), time('analytical', 'Analytical'), errorOf('analytical'),
      ...(rows.some((r) => r.extrapolated) ? [{ title: 'Extrapolated', value: (r) => Number(r.extrapolated), text: (r) => (r.extrapolated ? 'yes' : '\u2013') }] : []),
    ], rows);
  };

  const stepError = (s) => (s.measured ? s.step / s.measured - 1 : NaN);

  const addSteps = () => {
    const steps = data.steps;
    byId('steps').hidden = false;
    Echo.fillTable(byId('steps-table'), [
      { title: 'Models', left: true, value: (s) => s.models },
      { title: 'Predicted', value: (s) => s.step, text: (s) => formatTime(s.step) },
      { title: 'Slowdown of kernels', value: (s) => s.slowdown, text: (s) => (s.slowdown ? formatTime(s.slowdown) : '\u2013') },
      { title: 'Measured', value: (s) => s.measured, text: (s) => (s.measured ? formatTime(s.measured) : '\u2013') },
      { title: 'Error', value: (s) => Math.abs(stepError(s)) || 0, text: (s) => signed(stepError(s)) },
    ], steps);
    Echo.addChart(() => {
      const canvas = byId('steps-chart').querySelector('canvas');
      const bars = steps.map((s) => [s.models, s.step, 'compute']);
      if (steps[0].measured) bars.unshift(['measured', steps[0].measured, 'muted']);
      Echo.countMarks(canvas, bars.length);
      const ticks = timeTicks(Math.max(...bars.map((b) => b[1])));
      return new Chart(canvas, {
        type: 'bar',
        data: { labels: bars.map((b) => b[0]), datasets: [{ maxBarThickness: 40, data: bars.map((b) => b[1]), backgroundColor: bars.map((b) => fade(b[2], 0.75)) }] },
        options: {
          indexAxis: 'y',
          plugins: { legend: { display: false }, tooltip: { callbacks: { label: (item) => formatTime(item.raw) }, displayColors: false } },
          scales: { x: { beginAtZero: true, ticks: { callback: (x) => ticks(x), maxRotation: 0, maxTicksLimit: 7 } } },
        },
      });
    });
  };

  addHead();
  if (data.steps.length > 0) addSteps();
  if (FIDELITIES.some(([f]) => data.errors[f].rows > 0)) {
    addScatter();
    addErrors();
  } else {
    byId('charts').hidden = true;
    byId('nothing').hidden = false;
  }
  addTable();
  Echo.start();
})();
