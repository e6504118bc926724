// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The timeline: a bar below the graph with a hand over the operators in their order. What has not run yet is veiled, and
// the blobs that live at that moment are listed with their versions.

import './timeline.css';
import type { App } from './app.ts';
import { Curve } from './curve.ts';
import { count, digits, h, icon } from './dom.ts';
import { type Measured, amount, live, shapeText, size } from './measures.ts';
import { VirtualList } from './virtual_list.ts';

/** A row about a live value. */
export const liveRow = (app: App) => (blob: Measured): HTMLElement =>
  h('button.costrow.live', { onclick: () => void app.selectBlobNamed(blob.name, blob.version, { reveal: true }) },
    h('span.what', { title: blob.name }, blob.name, h('span.v', '@' + blob.version)), h('span', shapeText(blob)), h('span', blob.bytes === null ? '?' : amount(blob.bytes, 'B')));

export class Timeline {
  readonly element: HTMLElement;
  private readonly app: App;
  private readonly curve: Curve;
  private readonly list: VirtualList;
  private readonly where = h('div.where');
  private readonly listed = h('button.quiet', { onclick: () => this.showList(!!this.list.element.hidden) }, 'blobs live');
  private held: Measured[] = [];
  private open = false;

  constructor(app: App) {
    this.app = app;
    this.curve = new Curve('Moment of the net', (op) => app.tint.moveTo(op));
    this.list = new VirtualList('costs', 22, (first, n) => this.held.slice(first, first + n).map(liveRow(app)));
    this.list.element.hidden = true;
    this.element = h('div.timeline.hidden', { role: 'group', 'aria-label': 'Timeline' }, this.list.element,
      h('div.row', this.where, this.curve.element, this.listed, h('button.quiet', { 'aria-label': 'Close the timeline', onclick: () => this.toggle() }, icon('M4 4l8 8M12 4l-8 8'))));
    // The graph ends above it.
    new ResizeObserver(() => this.element.parentElement?.style.setProperty('--under', `${this.element.offsetHeight}px`)).observe(this.element);
    app.on(['measures'], () => this.open && this.draw());
    app.on(['time'], () => this.update());
    app.on(['net'], () => this.open && void this.begin());
  }

  toggle(): void {
    this.open = !this.open;
    this.element.classList.toggle('hidden', !this.open);
    if (this.open) void this.begin().then(() => this.open && this.curve.element.focus());
    else this.app.tint.moveTo(null);
  }
  /** At the selected operator, else where most is live. */
  private async begin(): Promise<void> {
    const told = await this.app.measures.need();
    if (!told || !this.open) return;
    this.draw();
    const nested = this.app.path().length > 1, selected = this.app.inPlace.outermost(this.app.selectedOp());
    this.app.tint.moveTo(nested ? null : selected >= 0 ? selected : told.peak.op ?? 0);
  }
  private draw(): void {
    const told = this.app.measures.told();
    if (told) this.curve.set(told);
    this.update();
  }
  private showList(shown: boolean): void {
    this.list.element.hidden = !shown;
    this.list.update();
    this.update();
  }
  private update(): void {
    const told = this.app.measures.told(), { at } = this.app.tint;
    if (at !== null && !this.open) {
      this.open = true;
      this.element.classList.remove('hidden');
      this.draw();
      return;
    }
    if (!told || at === null) return;
    const bytes = told.live[at] ?? 0;
    this.curve.at(at, `operator ${at}, ${amount(bytes, 'B')} live`);
    this.held = live(told, at).sort((a, b) => size(b.bytes) - size(a.bytes));
    this.where.replaceChildren(h('button.ref.op', { onclick: () => void this.app.selectOp(at, { reveal: true }) }, told.operators[at]?.type ?? '', h('span.i', digits(at))), h('span.faint', bytes > 0 ? amount(bytes, 'B') : ''));
    this.listed.textContent = `${count(this.held.length, 'blob')} live`;
    this.listed.setAttribute('aria-expanded', String(!this.list.element.hidden));
    this.list.setCount(this.held.length);
  }
}
