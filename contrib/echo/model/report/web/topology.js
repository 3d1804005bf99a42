// SPDX-License-Identifier: GPL-2.0-only
// The page of a cluster.
'use strict';
(() => {
  const { data, byId, make } = Echo;
  byId('title').textContent = data.title;
  byId('cards').replaceChildren(...data.facts.map(([label, value]) => make('div', { class: 'card' },
    make('div', { class: 'label' }, label), make('div', { class: value.length > 12 ? 'value long' : 'value' }, value))));
  Echo.network.addPlain();
  byId('tables').replaceChildren(...data.tables.map((t) => {
    const table = make('table');
    const isNumber = (i) => t.rows.length > 0 && t.rows.every((row) => row[i] !== '' && !Number.isNaN(Number(row[i])));
    Echo.fillTable(table, t.columns.map((title, i) => (isNumber(i)
      ? { title, value: (row) => Number(row[i]), text: (row) => row[i] } : { title, left: true, value: (row) => row[i] })), t.rows);
    return make('section', {}, make('h2', {}, t.title), make('div', { class: 'scroll' }, table));
  }));
  Echo.start();
})();
