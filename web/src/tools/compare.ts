// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Two nets by what they compute: two that are open, or one and a fresh plan of the backward pass that it has.

import './compare.css';
import type { NetInfo } from '../../../wasm/weft.d.ts';
import type { App } from '../app.ts';
import type { File } from '../command.ts';
import { count, digits, h } from '../dom.ts';
import { netTitle } from '../state.ts';
import { VirtualList } from '../virtual_list.ts';
import { Progress, type Tool, asCommand } from './tool.ts';

interface Diff {
  same: boolean;
  changed: { a: number; b: number; what: string[] }[];
  only_a: number[];
  only_b: number[];
  inputs_only_a: string[];
  inputs_only_b: string[];
  outputs_only_a: string[];
  outputs_only_b: string[];
  renamed: [string, string][];
  match: number[];
}
interface Row { kind: 'changed' | 'only_a' | 'only_b' | 'more'; a: number; b: number; text: string }

const FRESH = 'fresh';

function make(app: App) {
  const { workshop, state } = app;
  let sides: [number, number] | null = null; // nets in the engine
  let diff: Diff | null = null;
  let rows: Row[] = [];
  let known = '';
  let runs = 0;
  const types = new Map<string, string>();
  const progress = new Progress(), outcome = h('div'), command = h('div'), turn = h('div.switch', { role: 'group', 'aria-label': 'Net shown' });
  const list = new VirtualList('listing.planlist', 22, (first, n) => draw(first, n));
  list.element.setAttribute('aria-label', 'Differences');
  const select = (label: string) => h('select', { 'aria-label': label, onchange: () => void run() });
  const first = select('First net'), second = select('Second net');
  const element = h('div.comparing', h('div.sides', h('span.field', 'A'), first, h('span.field', 'B'), second), progress.element, outcome, turn, list.element, command);

  const nets = () => state.nets.filter((net) => net.parent < 0 && net.document !== state.preview?.document);
  const fileOf = (net: NetInfo) => state.documents.find((d) => d.id === net.document)?.name ?? '';
  /** Their names; their files' where both have one name. */
  const titles = () => {
    const both = (sides ?? []).map((id) => state.nets.find((n) => n.id === id));
    const named = both.map((net) => (net ? netTitle(net, state.documents) : ''));
    return named[0] === named[1] ? both.map((net) => (net ? fileOf(net) : '')) : named;
  };
  /** Files tell nets of one name apart. */
  const option = (net: NetInfo) => {
    const name = netTitle(net, state.documents), file = fileOf(net);
    return h('option', { value: String(net.id) }, name === file ? name : `${name} (${file})`);
  };

  async function run(): Promise<void> {
    const a = nets().find((net) => String(net.id) === first.value);
    if (!a) return;
    const mine = ++runs;
    clear();
    const own = workshop.fileOf(a);
    let other: { word: string; file: File }, b: number;
    if (second.value === FRESH) {
      const line = ['grad', own.word, '--replan', '-o', own.word.replace(/[#/]/g, '_').replace(/\.(pb|pbtxt|prototxt|txt)$/, '') + '_again.pb'];
      const planned = await progress.follow('Planning again', workshop.command.json<object>(line, [own.file]));
      const made = planned?.files[0];
      if (!made || mine !== runs) return;
      if (workshop.base()?.id !== a.id) await app.show(a.id);
      await workshop.showPreview(`Fresh plan of ${netTitle(a, state.documents)}`, made, line);
      if (mine !== runs) return;
      b = state.nets.find((net) => net.document === state.preview?.document && net.parent < 0)?.id ?? -1;
      other = { word: made.name, file: { name: made.name, blob: state.preview?.blob ?? new Blob() } };
    } else {
      const net = nets().find((n) => String(n.id) === second.value);
      if (!net) return;
      b = net.id;
      other = workshop.fileOf(net);
    }
    const line = ['diff', own.word, other.word];
    const found = await progress.follow('Comparing', workshop.command.json<Diff>(line, own.file.name === other.file.name ? [own.file] : [own.file, other.file]));
    if (!found || mine !== runs) return;
    diff = found.value;
    sides = [a.id, b];
    rows = [
      ...diff.changed.flatMap(({ a: from, b: to, what }) => [{ kind: 'changed', a: from, b: to, text: '' } as Row, ...what.map((text): Row => ({ kind: 'more', a: from, b: to, text }))]),
      ...diff.only_a.map((op): Row => ({ kind: 'only_a', a: op, b: -1, text: '' })),
      ...diff.only_b.map((op): Row => ({ kind: 'only_b', a: -1, b: op, text: '' })),
    ];
    command.replaceChildren(asCommand(line));
    show();
  }
  function clear(): void {
    [diff, sides, rows] = [null, null, []];
    progress.clear();
    command.replaceChildren();
    show();
  }

  function show(): void {
    list.setCount(rows.length);
    list.element.classList.toggle('hidden', rows.length === 0);
    turn.classList.toggle('hidden', !sides);
    const named = titles();
    turn.replaceChildren(...(sides ?? []).map((net, i) =>
      h('button', { 'aria-pressed': String(state.view?.net.id === net), title: named[i], onclick: () => void turnTo(i) }, `${'AB'[i]}  ${i === 1 && second.value === FRESH ? 'fresh plan' : named[i]}`)));
    if (!diff) return outcome.replaceChildren();
    const of = diff, matched = of.match.filter((op) => op >= 0).length;
    const names = (what: string, mark: string, list: string[]) => (list.length > 0 ? h('p.hint', h('span.' + (mark === '-' ? 'removed' : 'added'), mark), ` ${what}: ${list.slice(0, 100).join(', ')}${list.length > 100 ? ', …' : ''}`) : '');
    outcome.replaceChildren(
      h('p.verdict', of.same ? `The same: ${count(matched, 'operator')} in both` : `${digits(matched - of.changed.length)} the same, ${digits(of.changed.length)} changed, ${digits(of.only_a.length)} only in A, ${digits(of.only_b.length)} only in B`),
      names('external input', '-', of.inputs_only_a), names('external input', '+', of.inputs_only_b),
      names('external output', '-', of.outputs_only_a), names('external output', '+', of.outputs_only_b),
      of.renamed.length > 0 ? h('details', h('summary.hint', `${digits(of.renamed.length)} renamed`), h('pre', of.renamed.slice(0, 1000).map((pair) => pair.join(' → ')).join('\n'))) : '');
  }

  /** Shows A or B; what is selected stays, where the other net has it. */
  async function turnTo(side: number): Promise<void> {
    if (!sides || !diff) return;
    const at = state.view?.net.id === sides[0] ? 0 : 1, op = app.inPlace.outermost(app.selectedOp());
    const there = side === at ? op : at === 0 ? diff.match[op] ?? -1 : diff.match.indexOf(op);
    await app.show(sides[side] ?? -1);
    if (op >= 0 && there >= 0) await app.selectOp(there, { reveal: true });
  }
  async function jump(row: Row): Promise<void> {
    if (!sides || row.kind === 'more') return;
    const side = row.a < 0 || (row.b >= 0 && state.view?.net.id === sides[1]) ? 1 : 0;
    await app.show(sides[side] ?? -1);
    await app.selectOp(side === 0 ? row.a : row.b, { reveal: true });
    await app.revealFully();
  }

  async function learn(net: number, ops: number[]): Promise<void> {
    const missing = ops.filter((op) => !types.has(`${net}:${op}`));
    if (missing.length === 0) return;
    for (const op of missing) types.set(`${net}:${op}`, '');
    const { types: found, names } = await app.engine.ask('opLabels', net, missing);
    missing.forEach((op, i) => types.set(`${net}:${op}`, `${found[i] ?? ''}  ${names[i] ?? ''}`));
    list.invalidate();
  }
  function draw(from: number, n: number): HTMLElement[] {
    const part = rows.slice(from, from + n);
    for (const side of [0, 1] as const) {
      const ops = part.filter((row) => row.kind !== 'more' && (side === 0 ? row.a >= 0 : row.a < 0)).map((row) => (side === 0 ? row.a : row.b));
      if (sides && ops.length > 0) void learn(sides[side], ops);
    }
    return part.map((row) => {
      if (row.kind === 'more') return h('div.line.more', h('span.mark'), h('span.name', { title: row.text }, row.text));
      const net = sides?.[row.a < 0 ? 1 : 0] ?? -1, op = row.a < 0 ? row.b : row.a;
      const number = row.kind === 'changed' && row.a !== row.b ? `${digits(row.a)}, ${digits(row.b)}` : digits(op);
      return h('div.line.' + row.kind, { role: 'button', tabIndex: 0, onclick: () => void jump(row), onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'Enter') void jump(row);
      } }, h('span.mark', { changed: '~', only_a: '−', only_b: '+' }[row.kind]), h('span.name', types.get(`${net}:${op}`) ?? ''), h('span.num', number));
    });
  }

  app.on(['net'], () => {
    if (element.isConnected && sides) show();
  });
  return {
    element,
    update: () => {
      const open = nets(), now = open.map((net) => net.id).join();
      if (sides && !sides.every((id) => state.nets.some((net) => net.id === id))) clear();
      if (now === known) return;
      known = now;
      const before = [first.value, second.value];
      first.replaceChildren(...open.map(option));
      second.replaceChildren(...open.map(option), h('option', { value: FRESH }, 'a fresh plan of its backward pass'));
      const base = workshop.base();
      first.value = open.some((net) => String(net.id) === before[0]) ? before[0] ?? '' : String(base?.id ?? open[0]?.id ?? '');
      const init = base && workshop.initOf(base)?.id;
      const others = open.filter((net) => String(net.id) !== first.value && net.id !== init);
      second.value = before[1] && [...second.options].some((o) => o.value === before[1] && o.value !== first.value) ? before[1] : others[0] ? String(others[0].id) : FRESH;
      const a = open.find((net) => String(net.id) === first.value);
      if (second.value !== FRESH || a?.hasGradients) void run();
      else outcome.replaceChildren(h('p.hint', 'Open a second net to compare with.'));
    },
  };
}

export const compareTool: Tool = {
  id: 'compare', title: 'Compare', what: 'Two nets by what they compute', icon: 'M2 3h4.5v10H2zM9.5 3H14v10H9.5zM8 1.5v13', make,
};
