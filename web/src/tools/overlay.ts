// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Colours for the boxes: what operators cost, or numbers and words that somebody brings along: JSON or CSV by operator or
// blob, or a trace of a run.

import type { App } from '../app.ts';
import { count, h } from '../dom.ts';
import { chooseFiles } from '../files.ts';
import { type Costs, type Told, amount, size } from '../measures.ts';
import type { Overlay } from '../tint.ts';
import { Progress, type Tool, part } from './tool.ts';

const costs = [['flops', 'Operations', 'flop'], ['written', 'Bytes written', 'B'], ['read', 'Bytes read', 'B'], ['parameters', 'Parameters', '']] as const;

interface Read { title: string; unit: string; entries: [key: string, value: unknown][] }
interface Event { name?: unknown; ph?: unknown; ts?: unknown; dur?: unknown; tid?: unknown; pid?: unknown; args?: { op?: unknown } }

/** What a text says by key: an object, rows with a key and a value, CSV, or trace events. Throws what is wrong with it. */
export function readOverlay(text: string, file: string): Read {
  const title = file.replace(/\.\w+$/, '') || 'Pasted';
  if (!/^\s*[[{]/.test(text)) return { title, unit: '', entries: readCsv(text) };
  const json = JSON.parse(text) as { traceEvents?: Event[]; values?: Record<string, unknown>; title?: unknown; unit?: unknown } & Record<string, unknown>;
  const events = Array.isArray(json) && json.some((e) => e?.ph) ? (json as Event[]) : json.traceEvents;
  if (events) return { title: 'Time', unit: 's', entries: [...readTrace(events)] };
  if (Array.isArray(json)) {
    return { title, unit: '', entries: (json as Record<string, unknown>[]).map((row, i) => Array.isArray(row) ? [String(row[0]), row[1]]
      : row !== null && typeof row === 'object' ? [String(row.op ?? row.blob ?? row.key ?? row.name ?? ''), row.value] : [String(i), row]) };
  }
  return { title: typeof json.title === 'string' ? json.title : title, unit: typeof json.unit === 'string' ? json.unit : '', entries: Object.entries(json.values ?? json) };
}

function readCsv(text: string): [string, unknown][] {
  const rows = text.split(/\r?\n/).filter((row) => row.trim() && !row.startsWith('#')).map((row) => [...row.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))\s*(?:[,;\t]|$)/g)].map((m) => (m[1]?.replaceAll('""', '"') ?? m[2] ?? '').trim()));
  if (rows.length === 0 || rows.some((row) => (row.length < 2))) throw new Error('expected rows of an operator or blob and a value, as in 12,0.5');
  // A first row of words above a number is a heading.
  const heading = [0, 1].some((column) => Number.isNaN(Number(rows[0]?.[column])) && !Number.isNaN(Number(rows[1]?.[column] ?? NaN)));
  return rows.slice(heading ? 1 : 0).map(([key = '', value = '']) => [key, value]);
}

/** Seconds by what events name: args.op, else their name. Of several runs the sum. */
function readTrace(events: Event[]): Map<string, number> {
  const out = new Map<string, number>(), open = new Map<string, number[]>();
  const add = (event: Event, us: number) => {
    const key = String(event.args?.op ?? event.name ?? '');
    out.set(key, (out.get(key) ?? 0) + us / 1e6);
  };
  for (const event of events) {
    const thread = `${event.pid}:${event.tid}:${event.name}`;
    if (event.ph === 'X') add(event, Number(event.dur) || 0);
    else if (event.ph === 'B') open.set(thread, [...(open.get(thread) ?? []), Number(event.ts)]);
    else if (event.ph === 'E') {
      const began = open.get(thread)?.pop();
      if (began !== undefined) add(event, Number(event.ts) - began);
    }
  }
  return out;
}

/** By operator. A key is an operator's index, a blob that it writes, with @version or in all, or "Type 12"; "3.loop_net/12" is
 *  the index of one inside. */
function place({ entries, title, unit }: Read, told: Told, net: number): { overlay: Overlay; lost: string[] } {
  type Cell = { of: Float64Array; op: number };
  const numbers = new Float64Array(told.operators.length).fill(NaN), words: string[] = [], lost: string[] = [];
  const inside = new Map(told.nested.map(({ net: path, operators }) => [path, new Float64Array(operators.length).fill(NaN)]));
  const writers = new Map<string, Cell[]>();
  for (const { name, version, op, net: path } of told.blobs) {
    const of = path ? inside.get(path) : numbers;
    if (op === null || !of) continue;
    for (const key of [name, `${name}@${version}`]) {
      const cells = writers.get(key);
      cells ? cells.push({ of, op }) : writers.set(key, [{ of, op }]);
    }
  }
  const indexed = (key: string): Cell[] => {
    const [, path, nested] = /^(.+)\/(\d+)$/.exec(key) ?? [], of = inside.get(path ?? '') ?? numbers;
    const op = Number(of === numbers ? /^(?:\D*[\s#:])?(\d+)$/.exec(key)?.[1] : nested);
    return op < of.length ? [{ of, op }] : [];
  };
  const worded = entries.some(([, value]) => typeof value === 'string' && value !== '' && Number.isNaN(Number(value)));
  for (const [key, value] of entries) {
    const cells = writers.get(key) ?? indexed(key);
    let n = value === null || value === '' ? NaN : Number(value);
    if (worded) {
      n = words.indexOf(String(value));
      if (n < 0) n = words.push(String(value)) - 1;
    }
    if (cells.length === 0 || Number.isNaN(n)) lost.push(key);
    else for (const { of, op } of cells) of[op] = worded || Number.isNaN(of[op] ?? NaN) ? n : (of[op] ?? 0) + n;
  }
  return { overlay: { title, numbers, inside, words, net, text: (n) => numberText(n, unit) }, lost };
}

function numberText(n: number, unit: string): string {
  if (unit === 's') return n === 0 ? '0 s' : n >= 1 ? `${n.toPrecision(3)} s` : n >= 1e-3 ? `${(n * 1e3).toPrecision(3)} ms` : `${(n * 1e6).toPrecision(3)} µs`;
  return Number.isInteger(n) || Math.abs(n) >= 1000 ? amount(n, unit) : `${Number(n.toPrecision(4))}${unit && ' '}${unit}`;
}

function make(app: App) {
  const { measures, tint } = app;
  const progress = new Progress(), said = h('p.hint');
  const box = h('textarea.mono', { rows: 4, placeholder: '{"12": 0.5, "conv1": 1.5}   or   12,0.5', 'aria-label': 'Values by operator or blob', spellcheck: false });
  const costRow = h('div.choices');
  let unknown = false; // nothing of what was asked for last
  const take = async (text: string, file: string) => {
    said.textContent = '';
    try {
      const read = readOverlay(text, file);
      const told = await progress.follow('Looking at the net', { result: measures.need(), cancel: () => {} });
      const net = measures.net();
      if (!told || !net) return;
      const { overlay, lost } = place(read, told, net.id);
      const placed = [overlay.numbers, ...overlay.inside.values()].reduce((all, numbers) => all + numbers.reduce((sum, n) => sum + Number(!Number.isNaN(n)), 0), 0);
      said.textContent = `${count(placed, 'operator')} coloured.` + (lost.length > 0 ? ` ${count(lost.length, 'key')} named nothing here: ${lost.slice(0, 5).join(', ')}${lost.length > 5 ? ', …' : ''}` : '');
      tint.show(placed > 0 ? overlay : null);
    } catch (error) {
      progress.fail(`${file || 'The text'} is not understood: ${(error as Error).message}`);
    }
  };
  box.addEventListener('input', () => {
    progress.clear();
    if (box.value.trim()) void take(box.value, '');
  });
  const read = (files: File[]) => {
    for (const file of files) void file.text().then((text) => take(text, file.name));
  };
  const zone = h('div.dropfile', h('button.quiet', { onclick: () => chooseFiles(read) }, 'Choose a file'), h('span.hint', 'or drop it here'));
  const element = h('div.overlay',
    part('By cost', costRow),
    part('By your numbers', zone, box, said, progress.element),
    h('p.hint', 'JSON or CSV: an operator’s index or a blob (', h('code', 'conv1'), ', ', h('code', 'conv1@2'), ') and a number, a word, or a colour like ', h('code', '#a0c4ff'),
      '. A trace of a run in Chrome’s or Perfetto’s JSON colours by time: events name an operator in ', h('code', 'args.op'), ' or by a blob that it writes.'));
  element.addEventListener('drop', (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    dispatchEvent(new DragEvent('drop')); // ends the page's own invitation
    read(files);
  });
  const update = () => {
    const told = measures.told();
    costRow.replaceChildren(...costs.map(([key, title, unit]) => {
      const on = tint.overlay?.title === title;
      return h('button.quiet', { 'aria-pressed': String(on), onclick: () => void (on ? tint.show(null) : progress.follow('Working out costs', { result: measures.need(), cancel: () => {} }).then((got) => {
        const net = measures.net();
        if (!got || !net) return;
        const of = (ops: Partial<Costs>[]) => Float64Array.from(ops, (op) => (size(op[key] ?? null) > 0 ? size(op[key] ?? null) : NaN));
        const numbers = of(got.operators), inside = new Map(got.nested.map(({ net: path, operators }) => [path, of(operators)]));
        const none = numbers.every(Number.isNaN);
        unknown = none && !got.whole;
        update();
        if (none && got.whole) progress.fail('No operator of this net has any.');
        if (!none) tint.show({ title, numbers, inside, words: [], net: net.id, text: (n) => (unit === 'flop' ? `${amount(Math.round(n))} flop` : amount(Math.round(n), unit)) });
      })) }, title);
    }), told && !told.whole ? h('p.hint', unknown ? 'No operator’s cost is known without shapes. ' : 'Some shapes are not known: what depends on them stays plain. ', h('button.quiet', { onclick: () => app.showTool('shapes') }, 'Give shapes')) : '');
  };
  app.on(['tint', 'measures'], update);
  return { element, update };
}

export const overlayTool: Tool = {
  id: 'overlay', title: 'Colours', what: 'Colours for the boxes, by numbers', icon: 'M2 4h5v4H2zM9 4h5v4H9zM2 10h5v3H2zM9 10h5v3H9z', make,
};
