// SPDX-License-Identifier: GPL-2.0-only
// The page of a run.
'use strict';
(() => {
  const { data, byId, make, colour, kindColour, formatTime, timeTicks, formatBytes, formatCount, percent, plural } = Echo;
  const s = data.summary;
  const step = s.step_time_us;
  const PARTS = [
    ['compute', 'compute', 'compute_us'],
    ['exposed', 'exposed communication', 'exposed_communication_us'],
    ['waiting', 'waiting for other ranks', 'waiting_us'],
    ['idle', 'idle', 'idle_us'],
  ];
  const share = (us) => (step > 0 ? us / step : 0);

  const addHead = () => {
    byId('title').textContent = s.scenario || 'Run';
    byId('subtitle').textContent = [`${plural(s.ranks, 'rank')} on ${plural(s.hosts, 'host')}`, data.cluster, `${s.fidelity} fidelity`,
      s.congestion_control && `congestion control ${s.congestion_control}`,
      s.estimator_profile && `estimates ${s.estimator_profile === 'derived' ? 'derived from links' : `by profile ${s.estimator_profile}`}`, `seed ${s.seed}`].filter(Boolean).join(' \u00b7 ');
    const served = Object.entries(s.by_fidelity).filter(([, n]) => n > 0).map(([f, n]) => `${formatCount(n)} ${f}`).join(', ');
    const overlapped = s.communication_us > 0 ? 1 - s.exposed_communication_us / s.communication_us : 0;
    const cards = [
      s.jobs ? ['A step of each job', formatTime(step), plural(s.jobs.length, 'job'), 'main'] : ['Step time', formatTime(step), '', 'main'],
      ['Compute', percent(share(s.compute_us)), `mean ${formatTime(s.compute_us)}, largest ${formatTime(s.compute_us_max)}`],
      ['Exposed communication', percent(share(s.exposed_communication_us)),
        s.communication_us > 0 ? `${percent(overlapped, 0)} of communication overlaps compute` : 'no communication'],
      ['Waiting', percent(share(s.waiting_us)), 'for ranks that come later'],
      ['Idle', percent(share(s.idle_us)), `mean ${formatTime(s.idle_us)}`],
      ...(s.slowdown_us_max > 0 ? [['Slowdown of kernels', percent(share(s.slowdown_us)),
        `mean ${formatTime(s.slowdown_us)}, within compute`]] : []),
      ['Communications', formatCount(s.collectives), served],
      ['Between hosts', formatBytes(s.bytes_on_wire, 3), s.packets > 0 ? `${formatCount(s.packets)} packets` : 'on links'],
    ];
    if (s.packets > 0) {
      cards.push(['Network events', formatCount(s.drops + s.pauses + s.ecn_marks),
        `${plural(s.drops, 'drop')}, ${plural(s.pauses, 'pause')}, ${plural(s.ecn_marks, 'ECN mark')}`]);
      const names = { ecn_marks: 'ECN marks', cnps: 'CNPs' };
      byId('network-zeros').replaceChildren(...Object.entries(s.zero_counters).map(([counter, reason]) => make('li', {}, `${names[counter] || counter} 0: ${reason}`)));
    }
    byId('cards').replaceChildren(...cards.map(([label, value, detail, type]) => make('div', { class: 'card ' + (type || '') },
      make('div', { class: 'label' }, label), make('div', { class: 'value' }, value), make('div', { class: 'detail' }, detail))));
    const warnings = byId('warnings');
    const remarks = [...s.warnings, ...s.notes];
    warnings.hidden = remarks.length === 0;
    warnings.replaceChildren(...remarks.map((text) => make('li', {}, text)));
  };

  const addParts = () => {
    const parts = PARTS.map(([key, name, field]) => [key, name, share(s[field])]);
    byId('parts').setAttribute('aria-label', parts.map(([, name, x]) => `${name} ${percent(x)}`).join(', '));
    byId('parts').replaceChildren(...parts.map(([key, name, x]) => make('div', {
      title: `${name}: ${percent(x)}`,
      class: { waiting: 'on-light', idle: 'on-idle' }[key] || '',
      style: { width: 100 * x + '%', background: `var(--${key})` },
    }, x > 0.06 ? percent(x) : '')));
    Echo.legend(byId('parts-legend'), parts.map(([key, name, x]) => [`${name} ${percent(x)}`, `var(--${key})`]));
  };

  /** Several jobs that share the cluster, and what that costs each. */
  const addJobs = () => {
    if (!s.jobs) return;
    const compared = s.jobs.some((j) => j.alone_step_time_us !== undefined);
    byId('jobs').hidden = false;
    byId('jobs-note').textContent = 'A step of each, from its own first operator to its last; shares are means over its ranks.' +
      (compared ? ' Alone: the same job in its place, the others absent; slowdown: step time over that.' : '');
    const part = (title, key) => ({ title, value: (j) => j[key], text: (j) => (j.step_time_us > 0 ? percent(j[key] / j.step_time_us) : '\u2013') });
    Echo.fillTable(byId('jobs-table'), [
      { title: 'Job', left: true, value: (j) => j.name },
      { title: 'Ranks', value: (j) => j.ranks, text: (j) => `${formatCount(j.ranks)} (from ${j.first_rank})` },
      { title: 'Hosts', value: (j) => j.hosts, text: (j) => formatCount(j.hosts) },
      { title: 'Start', value: (j) => j.start_us, text: (j) => formatTime(j.start_us) },
      { title: 'Step time', value: (j) => j.step_time_us, text: (j) => formatTime(j.step_time_us) },
      ...(compared ? [
        { title: 'Alone', value: (j) => j.alone_step_time_us, text: (j) => formatTime(j.alone_step_time_us) },
        { title: 'Slowdown', value: (j) => j.slowdown, text: (j) => (j.slowdown > 0 ? j.slowdown.toFixed(3) : '\u2013') },
      ] : []),
      ...PARTS.map(([, name, key]) => part(name[0].toUpperCase() + name.slice(1), key)),
    ], s.jobs);
  };

  const addRanks = () => {
    const bars = data.ranks;
    if (bars.length === 0) { byId('ranks').hidden = true; return; }
    const grouped = bars.some((b) => b.last > b.first);
    byId('ranks-note').textContent = 'Where the step went, rank by rank; the four parts add up to the step.' +
      (s.jobs ? ' A rank is idle before its job begins and after it ends.' : '') +
      (grouped ? ` A bar is the mean of ${bars[0].last - bars[0].first + 1} neighbouring ranks.` : '');
    Echo.addChart(() => {
      const canvas = byId('ranks-chart').querySelector('canvas');
      Echo.countMarks(canvas, bars.length * PARTS.length);
      return new Chart(canvas, {
        type: 'bar',
        data: {
          labels: bars.map((b) => (b.last > b.first ? `${b.first}\u2013${b.last}` : String(b.first))),
          datasets: PARTS.map(([key, name], i) => ({
            label: name, data: bars.map((b) => b.parts_us[i]), backgroundColor: colour(key),
            categoryPercentage: bars.length > 64 ? 1 : 0.9, barPercentage: bars.length > 64 ? 0.92 : 0.9, maxBarThickness: 64,
          })),
        },
        options: {
          interaction: { mode: 'index', intersect: false },
          plugins: {
            legend: { position: 'bottom', labels: { boxWidth: 13, boxHeight: 13 } },
            tooltip: { callbacks: {
              title: ([item]) => (grouped ? 'ranks ' : 'rank ') + item.label + `, host ${bars[item.dataIndex].host}`,
              label: (item) => ` ${item.dataset.label}: ${formatTime(item.raw)} (${percent(share(item.raw))})`,
            } },
          },
          scales: {
            x: { stacked: true, grid: { display: false }, title: { display: true, text: grouped ? 'ranks' : 'rank' }, ticks: { maxRotation: 0, autoSkipPadding: 12 } },
            y: { stacked: true, min: 0, max: step > 0 ? step : undefined, ticks: { callback: timeTicks(step), maxTicksLimit: 6, includeBounds: false } },
          },
        },
      });
    });
  };

  const swatch = (kind, text) => {
    const cell = make('span', {}, make('span', { class: 'swatch', style: { background: `var(--${Echo.KINDS.includes(kind) ? kind : 'other'})` } }), text);
    return cell;
  };
  const totalsChart = (id, value, text, ticks) => Echo.addChart(() => {
    const rows = [...data.totals].sort((a, b) => value(b) - value(a)).slice(0, 12);
    const box = byId(id);
    box.style.height = 56 + 30 * rows.length + 'px';
    const canvas = box.querySelector('canvas');
    Echo.countMarks(canvas, rows.length);
    return new Chart(canvas, {
      type: 'bar',
      data: {
        labels: rows.map((t) => `${t.job ? t.job + ': ' : ''}${t.group} ${t.operation} (${t.fidelity})`),
        datasets: [{ data: rows.map(value), backgroundColor: rows.map((t) => kindColour(t.group)), maxBarThickness: 22 }],
      },
      options: {
        indexAxis: 'y',
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: (item) => ' ' + text(item.raw) } } },
        scales: { x: { min: 0, ticks: { ...ticks(Math.max(...rows.map(value))), maxTicksLimit: 7, maxRotation: 0 } }, y: { grid: { display: false } } },
      },
    });
  });
  /** At powers of two, which read well in binary units. */
  const byteTicks = (most) => ({ stepSize: 2 ** Math.max(Math.ceil(Math.log2(most / 5)), 0), callback: (bytes) => formatBytes(bytes) });

  const addCommunication = () => {
    if (data.totals.length === 0) {
      byId('communication-note').textContent = 'No communication.';
      byId('communication-body').hidden = true;
      return;
    }
    byId('communication-note').textContent = 'By operation, kind of group and the model that served it. Time counts from the last member\u2019s ' +
      'arrival; waiting before that stands apart. collectives.csv has every instance.';
    totalsChart('time-chart', (t) => t.duration_us, (x) => formatTime(x), (most) => ({ callback: timeTicks(most) }));
    totalsChart('bytes-chart', (t) => t.payload, (x) => formatBytes(x), byteTicks);
    const some = (key) => data.totals.some((t) => t[key] > 0);
    const optional = (key, title) => (some(key) ? [{ title, value: (t) => t[key], text: (t) => formatCount(t[key]) }] : []);
    Echo.fillTable(byId('totals-table'), [
      ...(data.summary.jobs ? [{ title: 'Job', left: true, value: (t) => t.job }] : []),
      { title: 'Group', left: true, value: (t) => t.group, text: (t) => swatch(t.group, t.group) },
      { title: 'Operation', left: true, value: (t) => t.operation },
      { title: 'Fidelity', left: true, value: (t) => t.fidelity },
      { title: 'Count', value: (t) => t.count, text: (t) => formatCount(t.count) },
      { title: 'Mean size', value: (t) => t.bytes / t.count, text: (t) => formatBytes(t.bytes / t.count) },
      { title: 'Mean time', value: (t) => t.mean_us, text: (t) => formatTime(t.mean_us) },
      { title: 'Longest', value: (t) => t.longest_us, text: (t) => formatTime(t.longest_us) },
      { title: 'Mean wait', value: (t) => t.waiting_us, text: (t) => formatTime(t.waiting_us) },
      { title: 'Time in all', value: (t) => t.duration_us, text: (t) => formatTime(t.duration_us) },
      { title: 'Bus bandwidth', value: (t) => t.busbw_GBps, text: (t) => t.busbw_GBps.toFixed(2) + ' GB/s' },
      ...(some('utilisation') ? [{ title: 'Largest link use', value: (t) => t.utilisation, text: (t) => (t.utilisation > 0 ? percent(t.utilisation) : '\u2013') }] : []),
      ...optional('extrapolated', 'Extrapolated'), ...optional('contended', 'Contended'), ...optional('uncoupled', 'Uncoupled'),
    ], data.totals);
  };

  const addLinks = () => {
    const links = data.links;
    byId('links-title').textContent = links.length < data.links_used ? `The most utilised of ${plural(data.links_used, 'link direction')}` : 'Links, most utilised first';
    const meter = (x) => make('span', {}, make('span', { class: 'meter' }, make('i', { style: { width: Math.min(100, 100 * x) + '%', background: 'var(--accent)' } })), percent(x));
    const some = (key) => links.some((l) => l[key] > 0);
    const optional = (key, title, text = formatCount) => (some(key) ? [{ title, value: (l) => l[key], text: (l) => text(l[key]) }] : []);
    Echo.fillTable(byId('links-table'), [
      { title: 'Where', left: true, value: (l) => (l.fabric ? 'between hosts' : 'inside a host') },
      { title: 'From', left: true, value: (l) => l.from },
      { title: 'To', left: true, value: (l) => l.to },
      { title: 'Rate', value: (l) => l.rate_GBps, text: (l) => l.rate_GBps.toLocaleString('en-US') + ' GB/s' },
      { title: 'Use over the step', value: (l) => l.utilisation, text: (l) => meter(l.utilisation) },
      ...optional('peak', 'Peak', (x) => (x > 0 ? percent(x, 0) : '\u2013')),
      { title: 'Bytes', value: (l) => l.bytes, text: (l) => formatBytes(l.bytes) },
      ...optional('queue', 'Largest queue', formatBytes), ...optional('marks', 'ECN marks'), ...optional('pauses', 'Pauses'),
      ...optional('paused_us', 'Paused', formatTime), ...optional('drops', 'Drops'),
    ], links);
  };

  addHead();
  addParts();
  addJobs();
  Echo.timeline.addTo();
  addRanks();
  addCommunication();
  Echo.network.addTo();
  addLinks();
  byId('footer').replaceChildren('Written by Echo. All times are simulated. Columns of the files beside this page: columns.md. Fingerprint ', make('code', {}, s.fingerprint), '.');
  Echo.start();
})();
