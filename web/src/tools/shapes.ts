// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes, costs and memory of the net that shows: what its inputs are, and what follows from it.

import './shapes.css';
import type { App } from '../app.ts';
import { Curve } from '../curve.ts';
import { severityMark } from '../details.ts';
import { count, digits, h } from '../dom.ts';
import { type Costs, type Measured, type Told, amount, live, size } from '../measures.ts';
import { goInside } from '../nested.ts';
import { liveRow } from '../timeline.ts';
import { VirtualList } from '../virtual_list.ts';
import { Progress, type Tool, asCommand, part } from './tool.ts';

const types = ['float', 'int32', 'int64', 'bool', 'uint8', 'int8', 'uint16', 'int16', 'float16', 'double', 'string', 'byte'];
const columns = [['flops', 'flop', ''], ['read', 'read', 'B'], ['written', 'written', 'B'], ['parameters', 'params', '']] as const;
const FEW = 6, PAGE = 200; // rows of inputs that show, and that a press adds
type Column = (typeof columns)[number][0];
interface Fitting { blob: string; type: string; shape: number[] | null }
interface Savings {
  live: number; blobs: number; reuse: number; flops: number; nothing: string | null;
  recompute: { most_percent: number | null; live: number; reuse: number; extra_flops: number; extra_percent: number; operators: number }[];
}

/** Rows of costs, sorted by one of their columns; a list that holds any number. */
class CostTable<T extends Costs> {
  readonly element: HTMLElement;
  private rows: T[] = [];
  private sorted: T[] = [];
  private by: Column = 'flops';
  private readonly head = h('div.costrow.head');
  private readonly list: VirtualList;

  constructor(what: string, name: (row: T) => (Node | string)[], jump: (row: T) => void) {
    const heads = columns.map(([key, label]) => h('button', { onclick: () => this.sort(key) }, label));
    this.head.append(h('span', what), ...heads);
    this.list = new VirtualList('costs', 22, (first, n) => this.sorted.slice(first, first + n).map((row) =>
      h('button.costrow', { onclick: () => jump(row) }, h('span.what', ...name(row)), ...columns.map(([key, , unit]) => h('span', row[key] === 0 ? '' : row[key] === null ? '?' : amount(row[key], unit))))));
    this.element = h('div.costtable', this.head, this.list.element);
  }
  set(rows: T[]): void {
    this.rows = rows;
    this.element.hidden = rows.length === 0;
    this.list.element.style.height = `${Math.min(rows.length, 10) * 22 + 1}px`;
    this.sort(this.by);
  }
  private sort(by: Column): void {
    this.by = by;
    this.sorted = [...this.rows].sort((a, b) => size(b[by]) - size(a[by]));
    columns.forEach(([key], i) => this.head.children[i + 1]?.setAttribute('aria-pressed', String(key === by)));
    this.list.element.scrollTop = 0;
    this.list.setCount(this.rows.length);
  }
}

function make(app: App) {
  const { measures, tint } = app;
  const progress = new Progress(), saving = new Progress();
  const rows = h('div.inputs'), findings = h('div'), line = h('div'), totals = h('dl.totals');
  const ops = new CostTable<Told['operators'][number]>('operator', (row) => [h('span.i', row.op), row.type], (row) => void goInside(app, '', row.op));
  const scopes = new CostTable<Told['scopes'][number]>('scope', (row) => [row.scope || 'no scope'], (row) => void app.find(`scope:${row.scope.replace(/\/$/, '') || '""'}`).then(() => app.findNext(1)));
  const curve = new Curve('Live bytes over the order of operators', (op) => {
    tint.moveTo(op);
  });
  const moment = h('p.hint'), alive = new VirtualList('costs', 22, (first, n) => held.slice(first, first + n).map(liveRow(app)));
  const saved = h('div');
  const cost = part('Cost', totals, ops.element), scoped = part('By scope', scopes.element), memory = part('Memory', curve.element, moment, alive.element, saving.element, saved);
  const results = [memory, cost, scoped];
  let held: Measured[] = [];
  let net = -1, typing = 0, shown: Told | null = null;

  const run = async () => {
    const now = measures.net();
    if (!now) return;
    try {
      await progress.follow('Working out shapes', measures.ask(now));
    } catch (error) {
      progress.fail((error as Error).message);
    }
  };
  const ask = () => {
    clearTimeout(typing);
    typing = window.setTimeout(() => void run(), 350);
  };

  /** Gives inputs without a shape one that fits, as a run makes it. */
  const fit = async () => {
    const now = measures.net(), asked = now && measures.words(now, '--shape');
    if (!now || !asked) return;
    const line = ['run', asked.net, ...(asked.init ? ['--init', asked.init] : []), ...asked.words, '--inputs'];
    const done = await progress.follow('Looking for shapes that fit', app.workshop.command.json<{ inputs: Fitting[] }>(line, asked.files));
    if (!done || measures.net() !== now) return;
    for (const { blob, type, shape } of done.value.inputs) {
      if (shape && measures.external.get(now.id)?.includes(blob) && !measures.inputs(now).get(blob)?.shape) measures.give(now, blob, { shape: shape.join(','), type });
    }
    rows.dataset.of = '';
    showInputs();
    void run();
  };
  // The rows stay as they are while somebody types in them.
  const showInputs = () => {
    const now = measures.net();
    const names = ((now && measures.external.get(now.id)) ?? []).filter(Boolean);
    const of = now && `${now.id}:${measures.external.has(now.id)}:${names.join('\n')}`;
    if (!now || !of || rows.dataset.of === of) return;
    rows.dataset.of = of;
    const given = measures.inputs(now), fields = new Map<string, { shape: HTMLInputElement; type: HTMLSelectElement }>();
    const last = (name: string) => name.split('/').at(-1);
    const row = (name: string) => {
      const have = given.get(name);
      const shape = h('input.mono', { value: have?.shape ?? '', placeholder: 'extents: N,…', 'aria-label': `Shape of ${name}`, spellcheck: false, autocomplete: 'off' });
      const type = h('select', { 'aria-label': `Type of ${name}` }, ...types.map((t) => h('option', { selected: t === (have?.type ?? 'float') }, t)));
      fields.set(name, { shape, type });
      const changed = () => {
        // Its like on other devices follow as long as they say the same.
        const before = given.get(name)?.shape ?? '';
        for (const other of names) {
          if (other !== name && (last(other) !== last(name) || (given.get(other)?.shape ?? '') !== before)) continue;
          const field = fields.get(other);
          if (field) [field.shape.value, field.type.value] = [shape.value, type.value];
          measures.give(now, other, { shape: shape.value, type: type.value });
        }
        ask();
      };
      shape.addEventListener('input', changed);
      type.addEventListener('change', changed);
      return h('label.input', h('span.mono', { title: name }, name), shape, type);
    };
    // Of many the first few, so that results are in sight: those without a shape before the others.
    const folds = names.length > FEW + 2;
    const order = folds ? [...names].sort((a, b) => Number(!!given.get(a)?.shape) - Number(!!given.get(b)?.shape)) : names;
    const list = h('div'), more = h('button.quiet.more');
    const add = (count: number) => {
      const from = list.childElementCount, added = order.slice(from, from + count).map(row);
      list.append(...added);
      const rest = order.length - from - added.length;
      more.textContent = rest > 0 ? `${digits(rest)} more` : 'Show fewer';
      more.onclick = () => {
        if (rest === 0) list.replaceChildren();
        add(rest === 0 ? FEW : PAGE);
        if (rest === 0) more.focus();
        else list.children[from + added.length]?.querySelector('input')?.focus();
      };
    };
    add(folds ? FEW : names.length);
    rows.replaceChildren(list, folds ? more : '', names.length === 0 ? h('p.hint', !measures.external.has(now.id) ? '' : app.workshop.initOf(now) ? 'The init net fills every input.' : 'The net has no inputs.')
      : h('p.hint', 'Extents may be letters: ', h('code', 'N,3,224,224'), '. Then costs are formulas.'));
    if (names.length > 0) rows.prepend(h('button.quiet.fit', { title: 'For those that have none: what Run would make', onclick: () => void fit() }, 'Take shapes that fit'));
  };

  const show = () => {
    const told = (shown = measures.told()), now = measures.net();
    showInputs();
    results.forEach((section) => (section.hidden = !told));
    findings.replaceChildren();
    line.replaceChildren();
    if (!told || !now) return;
    line.replaceChildren(asCommand(measures.asked()));
    const wrong = told.findings.filter((f) => f.severity !== 'note');
    const missing = told.missing_inputs.filter((blob) => !measures.inputs(now).get(blob)?.shape);
    findings.replaceChildren(
      ...wrong.slice(0, 50).map((f) => h('button.wrong.' + f.severity, { onclick: () => void goInside(app, f.net, f.op) }, h('b', severityMark(f.severity), ' '), f.message)),
      wrong.length > 50 ? h('p.hint', `and ${digits(wrong.length - 50)} more`) : '',
      wrong.length === 0 && !told.whole ? h('p.hint', missing.length > 0 ? `${count(missing.length, 'input')} without a shape: sums leave out what depends on ${missing.length === 1 ? 'it' : 'them'}.` : 'Some shapes depend on data.') : '');
    const { total } = told;
    totals.replaceChildren(...([
      ['Operations', amount(total.flops, '') + ' flop', 'flops'], ['Parameters', `${amount(total.parameters)}, ${amount(total.parameter_bytes, 'B')}`, 'parameters'],
      ...(total.state === 0 ? [] : [['State kept up to date', `${amount(total.state)}, ${amount(total.state_bytes, 'B')}`, 'state']]),
      ['Read', amount(total.read, 'B'), 'read'], ['Written', amount(total.written, 'B'), 'written'],
      ['Operators', digits(total.operators) + (total.unknown ? `, ${digits(total.unknown)} of unknown cost` : ''), ''],
    ]).map(([label, text, key]) => h('div', h('dt', label), h('dd', { 'data-total': key }, text))));
    ops.set(told.operators.filter((op) => op.flops !== 0 || op.written !== 0));
    scoped.hidden = told.scopes.length < 2;
    scopes.set(told.scopes.length < 2 ? [] : told.scopes);
    curve.set(told);
    saved.replaceChildren(h('button.quiet', { onclick: () => void save() }, 'What reusing and recomputing would save'));
    saving.clear();
    showMoment();
  };

  /** The blobs that live at the hand, at the peak when there is none. */
  const showMoment = () => {
    const told = measures.told();
    if (!told) return;
    const at = tint.at ?? told.peak.op ?? 0;
    held = live(told, at).sort((a, b) => size(b.bytes) - size(a.bytes));
    const own = held.reduce((sum, blob) => sum + Math.max(0, size(blob.bytes)), 0), inside = (told.live[at] ?? 0) - own;
    curve.at(tint.at, `operator ${at}, ${amount(told.live[at] ?? 0, 'B')}`);
    moment.replaceChildren(tint.at === null ? 'Peak ' : 'Live ', h('b', { 'data-live': String(at) }, tint.at === null ? amount(told.peak.bytes, 'B') : amount(told.live[at] ?? 0, 'B')), ' at ',
      h('button.ref.op', { onclick: () => void app.selectOp(at, { reveal: true }) }, told.operators[at]?.type ?? '', h('span.i', at)), `, in ${count(held.length, 'blob')}`,
      inside > 0 && typeof told.peak.bytes === 'number' ? `, ${amount(inside, 'B')} of it inside nets and workspaces` : '',
      told.peak.unsized > 0 ? `; ${count(told.peak.unsized, 'value')} of unknown size left out` : '', typeof told.peak.bytes === 'string' ? '; symbols count as 64 here' : '', '.');
    alive.element.style.height = `${Math.min(held.length, 8) * 22 + 1}px`;
    alive.element.scrollTop = 0;
    alive.setCount(held.length);
  };

  /** Now, with places shared, and with operators run again: what the command tells, and a pass for each line. */
  const save = async () => {
    const now = measures.net();
    if (!now) return;
    const asked = measures.words(now, '--input'), line = ['shapes', asked.net, ...(asked.init ? ['--init', asked.init] : []), ...asked.words, '--savings'];
    const done = await saving.follow('Looking for what can be saved', app.workshop.command.json<{ savings: Savings }>(line, asked.files));
    if (!done || measures.net() !== now) return;
    const { savings } = done.value;
    const preview = (what: string, name: string, words: string[]) => {
      const { words: given, init, net: word, files } = measures.words(now, '--shape');
      const pass = ['pass', name, word, ...(init ? [init] : []), ...given, ...words, '-o', `${word.replace(/\.\w+$/, '').replace(/#/, '_')}_${name}.pb`];
      void saving.follow(what, app.workshop.command.run(pass, files)).then((ran) => ran?.files[0] && app.workshop.showPreview(what, ran.files[0], pass));
    };
    const row = (key: string, what: string, live: number, reuse: number, extra: string, act: (() => void) | null) =>
      h(act ? 'button.saverow' : 'div.saverow', { 'data-saved': key, ...(act ? { onclick: act, title: 'Show the net that it makes' } : {}) },
        h('span', what), h('span', amount(live, 'B')), h('span', amount(reuse, 'B')), h('span', extra));
    const percent = (n: number) => `+${n < 9.95 ? n.toFixed(1) : Math.round(n)} %`;
    saved.replaceChildren(
      h('div.saverow.head', h('span', 'what would save'), h('span', 'used at once'), h('span', 'allocated'), h('span', 'flop')),
      row('now', 'As it is', savings.live, savings.blobs, '', null),
      row('reuse', 'Sharing places', savings.live, savings.reuse, '', () => preview('Blobs share memory', 'memory', [])),
      ...savings.recompute.map((way, i) => row(`recompute-${way.most_percent ?? 'all'}`, i + 1 === savings.recompute.length && way.most_percent === null ? 'Recomputing, lowest' : `Recomputing, ${way.most_percent ?? 100} %`, way.live, way.reuse, percent(way.extra_percent),
        () => preview(`${count(way.operators, 'operator')} run again`, 'recompute', way.most_percent === null ? [] : ['--most-flops', String(way.most_percent)]))),
      h('p.hint', savings.nothing ? `Recomputing saves nothing: ${savings.nothing}.` : 'Used at once: live bytes at the peak. Allocated: the bytes of all blobs, which share places from the second line on. On all devices together. A click shows the net.'),
      asCommand(line));
  };

  // An answer about another net, such as one that is left, changes nothing here.
  app.on(['measures'], () => {
    if (measures.told() !== shown) show();
  });
  app.on(['time'], showMoment);
  return {
    element: h('div.shapes', part('Inputs', rows), progress.element, findings, ...results, line),
    update: () => {
      const now = measures.net();
      if (now && now.id === net && measures.told()) return;
      net = now?.id ?? -1;
      show();
      if (now && !measures.told()) void run();
    },
  };
}

export const shapesTool: Tool = {
  id: 'shapes', title: 'Shapes', what: 'Shapes, cost and memory', icon: 'M2 14V2M2 14h12M5 11V8M8 11V4M11 11V6', make,
};
