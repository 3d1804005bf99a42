// SPDX-License-Identifier: GPL-2.0-only
// What all pages share: data, colours, numbers as text, tables, the floating tip.
'use strict';
window.Echo = (() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // Seen by tests, and by a reader whose page is not whole.
  root.dataset.errors = '0';
  const noteError = () => { root.dataset.errors = String(Number(root.dataset.errors) + 1); };
  window.addEventListener('error', noteError);
  window.addEventListener('unhandledrejection', noteError);
  document.addEventListener('securitypolicyviolation', noteError);

  const data = JSON.parse(byId('data').textContent);

  const colour = (name) => getComputedStyle(root).getPropertyValue('--' + name).trim();
  const KINDS = ['compute', 'copy', 'tp', 'pp', 'dp', 'ep', 'cp', 'embedding', 'world', 'other', 'host'];
  const KIND_NAMES = {
    compute: 'compute', copy: 'copy', tp: 'tensor parallel', pp: 'pipeline', dp: 'data parallel',
    ep: 'expert parallel', cp: 'context parallel', embedding: 'embedding', world: 'world',
    other: 'other group', host: 'host', waiting: 'waiting for other ranks',
    slowed: 'compute slowed by communication',
  };
  const kindColour = (kind) => colour(KINDS.includes(kind) ? kind : 'other');

  /** The colour at x (0 to 1) of the scale for loads. */
  const loadColour = (() => {
    let stops = null;
    const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    const get = (x) => {
      stops = stops || [0, 1, 2, 3, 4].map((i) => parse(colour('load' + i)));
      const at = Math.min(Math.max(x, 0), 1) * 4;
      const i = Math.min(Math.floor(at), 3);
      const mix = stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (at - i)));
      return `rgb(${mix.join(',')})`;
    };
    get.reset = () => { stops = null; };
    return get;
  })();

  const digits = (x, n, least = 1) => x.toLocaleString('en-US', { maximumSignificantDigits: n, minimumSignificantDigits: least });
  const UNITS = [[1e6, 's'], [1e3, 'ms'], [1, 'us'], [1e-3, 'ns'], [1e-6, 'ps']];
  /** Microseconds as text in the unit that suits. */
  const formatTime = (us, n = 4) => {
    if (us === 0) return '0';
    const [scale, unit] = UNITS.find(([s]) => Math.abs(us) >= s * 0.9999) || UNITS[4];
    return digits(us / scale, n, Math.min(n, 4)) + ' ' + unit.replace('us', '\u00b5s');
  };
  /** A text for ticks between lowest and highest: all in one unit. */
  const timeTicks = (span) => {
    const [scale, unit] = UNITS.find(([s]) => span >= s) || UNITS[4];
    return (us) => Number((us / scale).toPrecision(10)).toLocaleString('en-US', { maximumFractionDigits: 6 }) +
      ' ' + unit.replace('us', '\u00b5s');
  };
  const formatBytes = (bytes, n = 4) => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let i = 0;
    while (bytes >= 1024 && i < units.length - 1) { bytes /= 1024; ++i; }
    return digits(bytes, n) + ' ' + units[i];
  };
  const formatCount = (n) => n.toLocaleString('en-US');
  const percent = (x, n = 1) => (100 * x).toLocaleString('en-US', { maximumFractionDigits: n, minimumFractionDigits: n }) + ' %';
  const plural = (n, noun) => formatCount(n) + ' ' + noun + (n === 1 ? '' : 's');

  /** An element with text and children; all text of a run passes as text, never as HTML. */
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === 'class') element.className = value;
      else if (key === 'style') Object.assign(element.style, value);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };

  const tip = {
    show(event, lines) {
      const box = byId('tip');
      box.replaceChildren(...lines.filter(Boolean).map((line, i) => make('div', {}, i === 0 ? make('b', {}, line) : line)));
      box.style.display = 'block';
      const width = box.offsetWidth;
      const height = box.offsetHeight;
      const x = event.clientX + 16 + width > window.innerWidth ? event.clientX - width - 12 : event.clientX + 16;
      const y = Math.min(event.clientY + 16, window.innerHeight - height - 8);
      box.style.left = Math.max(4, x) + 'px';
      box.style.top = Math.max(4, y) + 'px';
    },
    hide() { byId('tip').style.display = 'none'; },
  };

  /**
   * Fills a table that sorts by the column whose head is clicked. A column: title, value(row) to
   * sort by, text(row) to show (default the value) which may be a node, left (text columns).
   */
  const fillTable = (table, columns, rows) => {
    const body = make('tbody');
    const show = (list) => body.replaceChildren(...list.map((row) => make('tr', {}, ...columns.map((c) =>
      make('td', { class: c.left ? 'left' : '' }, c.text ? c.text(row) : String(c.value(row)))))));
    const heads = columns.map((c) => make('th', { class: c.left ? 'left' : '', scope: 'col', tabindex: '0' }, c.title));
    const sortBy = (i) => {
      const down = heads[i].getAttribute('aria-sort') === 'descending' || (columns[i].left && !heads[i].hasAttribute('aria-sort'));
      heads.forEach((h) => h.removeAttribute('aria-sort'));
      heads[i].setAttribute('aria-sort', down ? 'ascending' : 'descending');
      const value = columns[i].value;
      const compare = (a, b) => (typeof a === 'string' ? a.localeCompare(b) : a - b);
      show([...rows].sort((a, b) => (down ? 1 : -1) * compare(value(a), value(b))));
    };
    heads.forEach((h, i) => {
      h.addEventListener('click', () => sortBy(i));
      h.addEventListener('keydown', (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sortBy(i); } });
    });
    table.replaceChildren(make('thead', {}, make('tr', {}, ...heads)), body);
    show(rows);
  };

  const legend = (element, entries) => element.replaceChildren(...entries.map(([name, background, hatched]) =>
    make('span', { class: 'key' }, make('i', { class: hatched ? 'hatched' : '', style: { backgroundColor: background } }), name)));

  // Charts are made again when the colours change.
  const charts = [];
  const addChart = (build) => { const entry = { build, chart: null }; charts.push(entry); return entry; };
  const drawAll = () => {
    loadColour.reset();
    Chart.defaults.color = colour('muted');
    Chart.defaults.borderColor = colour('grid');
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    Object.assign(Chart.defaults.plugins.tooltip, {
      backgroundColor: colour('back'), titleColor: colour('text'), bodyColor: colour('text'), footerColor: colour('muted'),
      borderColor: colour('line'), borderWidth: 1, padding: 10, boxPadding: 4, cornerRadius: 8,
    });
    for (const entry of charts) {
      if (entry.chart) entry.chart.destroy();
      entry.chart = entry.build();
    }
  };
  /** Says on the chart's element how many marks it shows. */
  const countMarks = (canvas, marks) => { canvas.dataset.marks = String(marks); };

  const start = () => {
    const button = byId('theme');
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const setDark = (on) => {
      root.classList.toggle('dark', on);
      button.textContent = on ? 'Light' : 'Dark';
      drawAll();
    };
    button.addEventListener('click', () => setDark(!root.classList.contains('dark')));
    dark.addEventListener('change', (e) => setDark(e.matches));
    setDark(dark.matches);
    root.dataset.ready = 'true';
  };

  return {
    data, byId, make, colour, kindColour, loadColour, KINDS, KIND_NAMES, formatTime, timeTicks, formatBytes, formatCount,
    percent, plural, tip, fillTable, legend, addChart, countMarks, start,
  };
})();
