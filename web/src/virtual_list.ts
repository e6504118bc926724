// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A list of a million rows of one height, of which only those in sight exist.

import { h } from './dom.ts';

const MAX_HEIGHT = 12_000_000; // browsers lay out no taller; above it a row of scrolling is several rows of the list

export class VirtualList {
  readonly element: HTMLElement;
  private readonly sizer = h('div.sizer');
  private readonly rows = h('div.rows');
  private readonly rowHeight: number;
  private readonly draw: (first: number, count: number) => (HTMLElement | null)[];
  private count = 0;
  private scheduled = false;

  /** `draw` gives the rows from `first` on; null for one that is not known yet. */
  constructor(className: string, rowHeight: number, draw: (first: number, count: number) => (HTMLElement | null)[]) {
    this.rowHeight = rowHeight;
    this.draw = draw;
    this.element = h('div.' + className, { tabIndex: 0 }, this.sizer, this.rows);
    this.element.addEventListener('scroll', () => this.invalidate(), { passive: true });
    new ResizeObserver(() => this.update()).observe(this.element);
  }

  setCount(count: number): void {
    this.count = count;
    this.sizer.style.height = `${Math.min(count * this.rowHeight, MAX_HEIGHT)}px`;
    this.update();
  }
  invalidate(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.update();
    });
  }
  /** Scrolls so that `row` is in sight, no further than needed. */
  reveal(row: number): void {
    const { first, seen } = this.window();
    if (row >= first + 1 && row < first + seen - 2) return;
    this.scrollTo(Math.max(0, row - Math.floor(seen / 3)));
  }
  scrollTo(row: number): void {
    const full = this.count * this.rowHeight, shown = Math.min(full, MAX_HEIGHT), view = this.element.clientHeight;
    const factor = full > shown ? (shown - view) / Math.max(full - view, 1) : 1;
    this.element.scrollTop = row * this.rowHeight * factor;
    this.update();
  }

  private window(): { first: number; seen: number } {
    const full = this.count * this.rowHeight, shown = Math.min(full, MAX_HEIGHT), view = this.element.clientHeight;
    const factor = full > shown ? (full - view) / Math.max(shown - view, 1) : 1;
    return { first: Math.floor((this.element.scrollTop * factor) / this.rowHeight), seen: Math.ceil(view / this.rowHeight) };
  }

  update(): void {
    if (this.element.clientHeight === 0) return;
    const { first, seen } = this.window();
    const from = Math.max(0, first - 4), to = Math.min(this.count, first + seen + 5);
    const rows = this.draw(from, Math.max(to - from, 0));
    const scaled = this.count * this.rowHeight > MAX_HEIGHT;
    const top = scaled ? this.element.scrollTop - (first - from) * this.rowHeight : from * this.rowHeight;
    this.rows.style.transform = `translateY(${Math.max(top, 0)}px)`;
    this.rows.replaceChildren(...rows.map((row) => row ?? h('div.line')));
  }
}
