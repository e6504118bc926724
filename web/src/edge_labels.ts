// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and bytes beside edges, where boxes are large enough to be read: those in sight on a canvas over the graph's, those
// of a picture for who draws it. None runs over a box, the minimap or another one: it goes to the side that has room, says
// less, or is left out.

import type { App } from './app.ts';
import { h } from './dom.ts';
import { pauses } from './engine.ts';
import { amount, shapeText } from './measures.ts';
import type { EdgePlace, Rectangle, Sight } from './render.ts';

const MOST = 200, GAP = 5;
const LEAST = 34; // pixels in which something can still be said
const TILE = 4096; // of a picture, looked at at once
const ruler = document.createElement('canvas').getContext('2d')!;

/** How letters are set, CSS pixels: they grow a little with what they stand beside. */
export function letters(scale: number): { size: number; line: number } {
  const size = Math.max(9, Math.min(12, 9.5 * scale));
  return { size, line: size + 4 };
}
const font = (size: number): string => `${size}px Inter, sans-serif`;
export const HALO = 3; // pixels of paper that a letter is drawn over

export interface EdgeLabel { value: number; text: string; x: number; y: number; w: number; h: number }

/** Where the label of a place goes; `ways` are its texts, the longest first. */
function fit(at: EdgePlace, ways: string[], line: number, placed: EdgeLabel[], widthOf: (text: string) => number): EdgeLabel | null {
  const y = at.up ? at.y - line : at.y + 1;
  let { left, right } = at;
  for (const other of placed) {
    if (other.y >= y + line || other.y + other.h <= y) continue;
    if (other.x + other.w > at.x) right = Math.min(right, other.x - at.x);
    if (other.x < at.x) left = Math.min(left, at.x - other.x - other.w);
  }
  [left, right] = [left - 2 * GAP, right - 2 * GAP];
  const put = (text: string, w: number, onRight: boolean) => ({ value: at.value, text, x: onRight ? at.x + GAP : at.x - GAP - w, y, w, h: line });
  for (const text of ways) {
    const w = widthOf(text);
    if (w <= right || w <= left) return put(text, w, w <= right);
  }
  const room = Math.max(left, right), last = ways.at(-1) ?? '';
  for (let length = room < LEAST ? 0 : last.length - 1; length > 2; --length) {
    const text = last.slice(0, length) + '…', w = widthOf(text);
    if (w <= room) return put(text, w, right >= left);
  }
  return null;
}

/** Adds to `labels` what is written beside the edges that start in a part of a sight. */
function find(app: App, sight: Sight, part: Rectangle, most: number, labels: EdgeLabel[], skip: (value: number) => boolean = () => false): void {
  const { measures, render } = app, { size, line } = letters(sight.scale);
  ruler.font = font(size);
  for (const at of render.edgePlaces(sight, part, most, line)) {
    const known = measures.value(at.value), shape = known && shapeText(known);
    if (!known || !shape || skip(at.value)) continue;
    const more = at.count > 1 ? ` +${at.count - 1}` : '';
    const label = fit(at, [...(known.bytes ? [`${shape}  ${amount(known.bytes, 'B')}${more}`] : []), shape + more, shape], line, labels, (text) => ruler.measureText(text).width);
    if (label) labels.push(label);
  }
}

/** Writes labels on a canvas whose unit is a CSS pixel. */
export function write(on: CanvasRenderingContext2D, labels: EdgeLabel[], scale: number): void {
  const style = getComputedStyle(document.documentElement), { size } = letters(scale);
  Object.assign(on, { font: font(size), fillStyle: style.getPropertyValue('--ink2'), strokeStyle: style.getPropertyValue('--paper'), lineWidth: HALO, lineJoin: 'round' });
  for (const { text, x, y } of labels) for (const draw of ['strokeText', 'fillText'] as const) on[draw](text, x, y + size);
}

/** What a picture of a rectangle of the world, at a scale, has beside its edges: CSS pixels from the rectangle's corner. */
export async function labelsOf(app: App, { x, y, w, h: high }: Rectangle, scale: number, stop: { stopped: boolean }): Promise<EdgeLabel[]> {
  if (app.measures.values().length === 0) return [];
  const sight: Sight = { x, y, scale, w: w * scale, h: high * scale }, pause = pauses(stop);
  const out: EdgeLabel[] = [], seen = new Set<number>();
  const again = (value: number) => seen.has(value) || !seen.add(value);
  for (let top = 0, near: EdgeLabel[] = []; top < sight.h; top += TILE) {
    near = near.filter((label) => label.y + 2 * label.h > top); // those of the tiles above that reach into these
    for (let left = 0; left < sight.w; left += TILE) {
      const known = near.length;
      find(app, sight, { x: left, y: top, w: Math.min(TILE, sight.w - left), h: Math.min(TILE, sight.h - top) }, 0xffffffff, near, again);
      out.push(...near.slice(known));
      await pause();
    }
  }
  return out;
}

/** The canvas, which draws itself anew with each frame of the view; and what it wrote last. */
export function edgeLabels(app: App): { canvas: HTMLCanvasElement; labels: EdgeLabel[] } {
  const canvas = h('canvas', { className: 'edgelabels', 'aria-hidden': 'true', 'aria-label': 'Shapes beside edges' });
  const on = canvas.getContext('2d'), labels: EdgeLabel[] = [];
  app.view.drawn = () => {
    const { view } = app, before = labels.length, sight = view.sight();
    labels.length = 0;
    if (app.measures.values().length > 0) find(app, sight, { ...sight, x: 0, y: 0 }, MOST, labels);
    if (!on || (before === 0 && labels.length === 0)) return;
    const { width, height } = view.canvas, ratio = width / Math.max(view.width, 1);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    on.setTransform(ratio, 0, 0, ratio, 0, 0);
    on.clearRect(0, 0, view.width, view.height);
    write(on, labels, sight.scale);
  };
  app.on(['measures'], () => app.view.invalidate());
  return { canvas, labels };
}
