// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How much is live over the order of operators: a curve with its peak, and a hand that can be moved along it.

import { digits, h } from './dom.ts';
import { type Told, amount } from './measures.ts';

const NS = 'http://www.w3.org/2000/svg';
const COLUMNS = 480;

export class Curve {
  readonly element: HTMLElement;
  private readonly svg = document.createElementNS(NS, 'svg');
  private readonly area = document.createElementNS(NS, 'path');
  private readonly hand = h('i.hand');
  private readonly peak = h('i.peak');
  private ops = 0;

  /** `moved` hears where the hand was put: an operator. */
  constructor(label: string, moved: (op: number) => void) {
    this.svg.append(this.area);
    this.svg.setAttribute('viewBox', `0 0 ${COLUMNS} 100`);
    this.svg.setAttribute('preserveAspectRatio', 'none');
    this.element = h('div.curve', { tabIndex: 0, role: 'slider', 'aria-label': label, 'aria-valuemin': 0 }, this.svg, this.peak, this.hand);
    const put = (event: PointerEvent) => {
      const box = this.element.getBoundingClientRect();
      moved(this.clamp(Math.floor(((event.clientX - box.left) / box.width) * this.ops)));
    };
    this.element.addEventListener('pointerdown', (event) => {
      this.element.setPointerCapture(event.pointerId);
      put(event);
    });
    this.element.addEventListener('pointermove', (event) => this.element.hasPointerCapture(event.pointerId) && put(event));
    this.element.addEventListener('keydown', (event) => {
      const now = Number(this.element.getAttribute('aria-valuenow'));
      const page = Math.max(1, Math.round(this.ops / 20));
      const to = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, PageDown: now - page, PageUp: now + page, Home: 0, End: this.ops - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      moved(this.clamp(to));
    });
  }
  private clamp(op: number): number {
    return Math.max(0, Math.min(this.ops - 1, op));
  }

  set(told: Told): void {
    const { live } = told;
    this.ops = live.length;
    const most = live.reduce((a, b) => Math.max(a, b), 1);
    // The most of what falls into a column, so that no peak is lost.
    const columns = Math.min(COLUMNS, Math.max(live.length, 1));
    let path = `M0 100`;
    for (let c = 0; c < columns; ++c) {
      const from = Math.floor((c * live.length) / columns), to = Math.max(from + 1, Math.floor(((c + 1) * live.length) / columns));
      let top = 0;
      for (let i = from; i < to; ++i) top = Math.max(top, live[i] ?? 0);
      const y = (100 - (top / most) * 96).toFixed(2);
      path += `L${((c / columns) * COLUMNS).toFixed(2)} ${y}H${(((c + 1) / columns) * COLUMNS).toFixed(2)}`;
    }
    this.area.setAttribute('d', `${path}V100Z`);
    this.element.setAttribute('aria-valuemax', String(Math.max(0, this.ops - 1)));
    this.peak.hidden = told.peak.op === null;
    if (told.peak.op !== null) this.peak.style.left = `${((told.peak.op + 0.5) / this.ops) * 100}%`;
    this.peak.title = `Peak: ${amount(told.peak.bytes, 'B')} at operator ${digits(told.peak.op ?? 0)}`;
  }
  /** Where the hand is; none for null. */
  at(op: number | null, said = ''): void {
    this.hand.hidden = op === null;
    if (op === null) return;
    this.hand.style.left = `${((op + 0.5) / Math.max(this.ops, 1)) * 100}%`;
    this.element.setAttribute('aria-valuenow', String(op));
    this.element.setAttribute('aria-valuetext', said || `operator ${op}`);
  }
}
