// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The net as text, one operator a line, linked both ways with the graph. Lines are asked for as they come into sight.

import type { ListingLine } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import { h } from './dom.ts';
import { VirtualList } from './virtual_list.ts';

const CHUNK = 128, KEPT_CHUNKS = 64;
const classes = [
  '', 'heading', 'dim', 'dim', 'type', 'type gradient', 'blob in', 'blob out', 'v', 'arg', 'number', 'string', 'dim', 'dim',
  'error', 'error', 'dim', 'added', 'removed', 'changed',
];

export class Listing {
  readonly element: HTMLElement;
  private readonly app: App;
  private readonly list: VirtualList;
  private chunks = new Map<number, ListingLine[] | null>();
  private net = -1;
  private matches = new Set<number>();

  constructor(app: App) {
    this.app = app;
    this.list = new VirtualList('listing', 20, (first, count) => this.rows(first, count));
    this.element = this.list.element;
    this.element.setAttribute('aria-label', 'Operators as text');
    this.element.addEventListener('click', (event) => this.click(event));
    app.on(['net'], () => this.reset());
    app.on(['selection'], () => {
      const op = this.selected();
      if (op >= 0 && !this.element.contains(document.activeElement)) void this.reveal(op);
      this.list.update();
    });
    app.on(['faults'], () => this.list.invalidate());
    app.on(['found'], () => {
      this.matches = new Set(app.state.found?.ops.subarray(0, 200_000));
      this.list.invalidate();
    });
  }

  private reset(): void {
    const { view } = this.app.state;
    if (view?.net.id !== this.net) {
      this.chunks.clear();
      this.element.scrollTop = 0;
    }
    this.net = view?.net.id ?? -1;
    this.list.setCount(view?.lines ?? 0);
  }

  /** Of what is drawn in a box: the operator that holds it. */
  private selected(): number {
    return this.app.inPlace.outermost(this.app.selectedOp());
  }
  private async reveal(op: number): Promise<void> {
    const line = await this.app.engine.ask('lineOf', this.net, op);
    if (this.selected() === op) this.list.reveal(line);
  }

  private line(at: number): ListingLine | null {
    const chunk = Math.floor(at / CHUNK);
    const have = this.chunks.get(chunk);
    if (have) return have[at % CHUNK] ?? null;
    if (have === undefined) void this.load(chunk);
    return null;
  }
  private async load(chunk: number): Promise<void> {
    const { net } = this;
    this.chunks.set(chunk, null);
    const lines = await this.app.engine.ask('listing', net, chunk * CHUNK, CHUNK);
    if (net !== this.net) return;
    this.chunks.set(chunk, lines);
    for (const old of this.chunks.keys()) {
      if (this.chunks.size <= KEPT_CHUNKS) break;
      if (Math.abs(old - chunk) > 4) this.chunks.delete(old);
    }
    this.list.invalidate();
  }

  private rows(first: number, count: number): (HTMLElement | null)[] {
    const { selection } = this.app.state;
    const selected = selection?.what === 'op' ? this.selected() : -1;
    const several = selection?.what === 'ops' ? new Set(selection.ops) : null;
    const lit = selection?.what === 'blob' ? selection.value : -1;
    const near = new Set<number>();
    if (selection?.what === 'op' && selection.details) {
      for (const p of selection.details.inputs) near.add(p.writer);
      for (const p of selection.details.outputs) for (const op of p.readers) near.add(op);
    } else if (selection?.what === 'blob') {
      const version = selection.details?.versions.find((v) => v.value === lit);
      for (const op of version ? [version.writer, ...version.readers] : []) near.add(op);
    }
    return Array.from({ length: count }, (_, i) => {
      const line = this.line(first + i);
      const op = line?.op ?? -1;
      const row = op >= 0 ? h('div.line', { 'data-op': op }, h('span.n', op)) : h('div.line', h('span.n'));
      if (op < 0) {
        if (line) row.append(h('span', pieces(line, lit)));
        return row;
      }
      if (op === selected || several?.has(op)) row.classList.add('selected');
      if (near.has(op)) row.classList.add('near');
      if (this.matches.has(op)) row.classList.add('match');
      if (this.app.state.faults.includes(op)) row.classList.add('fault');
      if (line) row.append(h('span', pieces(line, lit)));
      return row;
    });
  }

  private click(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const value = target.closest<HTMLElement>('[data-value]')?.dataset.value;
    if (value !== undefined) return void this.app.selectValue(Number(value)).then(() => this.app.reveal());
    const op = target.closest<HTMLElement>('[data-op]')?.dataset.op;
    if (op !== undefined) void this.app.selectOp(Number(op), { reveal: true });
  }
}

/** A line's text as styled pieces; blobs carry the value that they name. */
export function pieces({ text, spans }: ListingLine, lit: number): Node[] {
  const out: Node[] = [];
  let end = 0; // what no piece covers is plain
  for (let i = 0; i + 3 < spans.length; i += 4) {
    const from = spans[i] ?? 0;
    if (from > end) out.push(document.createTextNode(text.slice(end, from)));
    end = spans[i + 1] ?? from;
    const part = text.slice(from, end);
    const name = classes[spans[i + 2] ?? 0] ?? '';
    const value = spans[i + 3] ?? -1;
    if (!name) out.push(document.createTextNode(part));
    else {
      const span = h('span', { className: name }, part);
      if (value >= 0) span.dataset.value = String(value);
      if (value >= 0 && value === lit) span.classList.add('lit');
      out.push(span);
    }
  }
  if (end < text.length) out.push(document.createTextNode(text.slice(end)));
  return out;
}
