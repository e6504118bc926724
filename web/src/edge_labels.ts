// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and bytes beside the edges in sight, where boxes are large enough to be read, on a canvas over the graph's. None
// runs over a box, the minimap or another one: it goes to the side that has room, says less, or is left out.

import type { App } from './app.ts';
import { h } from './dom.ts';
import { amount, shapeText } from './measures.ts';
import type { EdgePlace } from './render.ts';

const MOST = 200, GAP = 5;
const LEAST = 34; // pixels in which something can still be said

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

/** The canvas, which draws itself anew with each frame of the view; and what it wrote last. */
export function edgeLabels(app: App): { canvas: HTMLCanvasElement; labels: EdgeLabel[] } {
  const canvas = h('canvas', { className: 'edgelabels', 'aria-hidden': 'true', 'aria-label': 'Shapes beside edges' });
  const context = canvas.getContext('2d'), labels: EdgeLabel[] = [];
  app.view.drawn = () => {
    const { view, measures, render } = app;
    const size = Math.max(9, Math.min(12, 9.5 * view.camera.scale)), line = size + 4;
    const places = context && measures.values().length > 0 ? render.edgePlaces(MOST, line) : [];
    if (!context || (places.length === 0 && labels.length === 0)) return;
    const { width, height } = view.canvas, ratio = width / Math.max(view.width, 1);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const style = getComputedStyle(canvas);
    Object.assign(context, { font: `${size}px Inter, sans-serif`, fillStyle: style.color, strokeStyle: style.getPropertyValue('--paper'), lineWidth: 3, lineJoin: 'round' });
    labels.length = 0;
    for (const at of places) {
      const known = measures.value(at.value), shape = known && shapeText(known);
      if (!known || !shape) continue;
      const more = at.count > 1 ? ` +${at.count - 1}` : '';
      const label = fit(at, [...(known.bytes ? [`${shape}  ${amount(known.bytes, 'B')}${more}`] : []), shape + more, shape], line, labels, (text) => context.measureText(text).width);
      if (!label) continue;
      labels.push(label);
      for (const draw of ['strokeText', 'fillText'] as const) context[draw](label.text, label.x, label.y + size);
    }
  };
  app.on(['measures'], () => app.view.invalidate());
  return { canvas, labels };
}
