// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What colours the boxes: a number or a word for some of the operators, with a legend; and the moment of the timeline,
// after which boxes are veiled. The colours lie in the style sheet.

import type { NetInfo } from '../../wasm/weft.d.ts';
import { h, icon } from './dom.ts';
import type { Renderer } from './render.ts';
import type { Drawn } from './state.ts';
import type { View } from './view.ts';

/** What it asks of the page. */
interface Page {
  readonly render: Renderer;
  readonly view: View;
  readonly inPlace: { drawn(): Drawn[]; outermost(op: number): number };
  path(): NetInfo[];
  on(topics: 'scene'[], listener: () => void): void;
  tell(topic: 'tint' | 'time'): void;
}

export interface Overlay {
  title: string; // "Operations"
  /** By operator of the net `net`, the outermost: NaN where there is nothing. */
  numbers: Float64Array;
  /** The same for the nets inside it, by path. */
  inside: Map<string, Float64Array>;
  /** For words instead of numbers: numbers are indices into these. A word like #a0c4ff is its own colour. */
  words: string[];
  text(n: number): string;
  net: number;
}

const MOST = 92; // of 127: what is written on a box can still be read
const HUES = 8;

export class Tint {
  readonly legend = h('div.tintlegend.hidden', { role: 'group', 'aria-label': 'What colours mean' });
  /** The operator up to which the net has run on the timeline; null when it is not shown. */
  at: number | null = null;
  private readonly page: Page;
  private shown: Overlay | null = null;
  private range: [number, number] = [0, 1];
  private tinted = false;
  /** What the renderer was given: by operator drawn. */
  words = new Uint32Array();

  constructor(page: Page) {
    this.page = page;
    page.on(['scene'], () => this.apply());
    new MutationObserver(() => this.apply()).observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  }

  get overlay(): Overlay | null {
    return this.shown?.net === this.page.path()[0]?.id ? this.shown : null;
  }
  show(overlay: Overlay | null): void {
    this.shown = overlay;
    this.range = [0, -Infinity];
    for (const numbers of overlay ? [overlay.numbers, ...overlay.inside.values()] : []) {
      for (const n of numbers) if (!Number.isNaN(n)) this.range = [Math.min(this.range[0], n), Math.max(this.range[1], n)];
    }
    this.apply();
    this.page.tell('tint');
  }
  moveTo(op: number | null): void {
    this.at = op;
    this.apply();
    this.page.tell('time');
  }
  /** For the tip: "Operations 1.9 G". */
  text(op: number): string {
    const { overlay } = this, net = this.page.inPlace.drawn().filter(({ firstOp }) => op >= firstOp).at(-1);
    const n = (overlay && net && of(overlay, net.path)?.[op - net.firstOp]) ?? NaN;
    return overlay && !Number.isNaN(n) ? `${overlay.title} ${overlay.words[n] ?? overlay.text(n)}` : '';
  }

  private apply(): void {
    const { overlay, page } = this, at = page.path().length > 1 ? null : this.at;
    this.describe(overlay);
    if (!overlay && at === null && !this.tinted) return;
    this.tinted = !!overlay || at !== null;
    const nets = page.inPlace.drawn(), last = nets.at(-1);
    const words = new Uint32Array(this.tinted && last ? last.firstOp + last.numOps : 0);
    if (overlay) {
      const colors = overlay.words.map((word, i) => (MOST << 24) | color(word, i)), heat = color('', -1);
      for (const { path, firstOp, numOps } of nets) {
        const numbers = of(overlay, path);
        for (let op = 0; numbers && op < numOps; ++op) {
          const n = numbers[op] ?? NaN;
          if (!Number.isNaN(n)) words[firstOp + op] = colors.length > 0 ? colors[n] ?? 0 : (Math.round(this.strength(n) * MOST) << 24) | heat;
        }
      }
    }
    if (at !== null) for (const { firstOp, numOps } of nets) {
      // What an operator holds runs with it.
      const [from, to] = firstOp === 0 ? [at + 1, numOps] : page.inPlace.outermost(firstOp) > at ? [firstOp, firstOp + numOps] : [0, 0];
      for (let op = from; op < to; ++op) words[op] = ((words[op] ?? 0) | 0x80000000) >>> 0;
    }
    this.words = words;
    page.render.tint(words);
    page.view?.invalidate();
  }
  // The root spreads what is small: most operators cost little beside the dearest.
  private strength(n: number): number {
    const [low, high] = this.range;
    return high > low ? Math.sqrt((n - low) / (high - low)) : 1;
  }
  private describe(overlay: Overlay | null): void {
    this.legend.classList.toggle('hidden', !overlay);
    if (!overlay) return;
    const [low, high] = this.range;
    const scale = overlay.words.length > 0
      ? overlay.words.slice(0, 12).map((word, i) => {
          const mark = h('i.swatch');
          mark.style.background = `#${color(word, i).toString(16).padStart(6, '0')}`;
          return h('span', mark, word);
        })
      : [h('span', overlay.text(low)), h('i.ramp', h('b', overlay.text(low + (high - low) / 4))), h('span', overlay.text(high))];
    this.legend.replaceChildren(h('span.label', overlay.title), ...scale,
      h('button', { 'aria-label': 'Remove the colours', title: 'Remove the colours', onclick: () => this.show(null) }, icon('M4 4l8 8M12 4l-8 8')));
  }
}

const of = (overlay: Overlay, path: string): Float64Array | undefined => (path ? overlay.inside.get(path) : overlay.numbers);

/** A word's own colour, or the i-th of the style sheet's; the heat's for -1. */
function color(word: string, i: number): number {
  if (/^#[0-9a-f]{6}$/i.test(word)) return parseInt(word.slice(1), 16);
  return parseInt(getComputedStyle(document.documentElement).getPropertyValue(i < 0 ? '--heat' : `--hue${i % HUES}`).trim().slice(1), 16) || 0;
}
