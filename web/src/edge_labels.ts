// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and bytes beside the edges in sight, where boxes are large enough to be read, on a canvas over the graph's.

import type { App } from './app.ts';
import { h } from './dom.ts';
import { amount, shapeText } from './measures.ts';

const MOST = 200;

/** The canvas, which draws itself anew with each frame of the view. */
export function edgeLabels(app: App): HTMLCanvasElement {
  const canvas = h('canvas', { className: 'edgelabels', 'aria-hidden': 'true', 'aria-label': 'Shapes beside edges' });
  const context = canvas.getContext('2d');
  let drawn = false;
  app.view.drawn = () => {
    const { view, measures, render } = app;
    const places = context && measures.values().length > 0 ? render.edgePlaces(MOST) : [];
    if (!context || (places.length === 0 && !drawn)) return;
    const { width, height } = view.canvas, ratio = width / Math.max(view.width, 1);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const { right, bottom } = render.margin(); // the minimap's
    context.beginPath();
    context.rect(0, 0, view.width - right, view.height - bottom);
    context.save();
    context.clip();
    const style = getComputedStyle(canvas), size = Math.max(9, Math.min(12, 9.5 * view.camera.scale));
    Object.assign(context, { font: `${size}px Inter, sans-serif`, fillStyle: style.color, strokeStyle: style.getPropertyValue('--paper'), lineWidth: 3, lineJoin: 'round' });
    for (const { value, count, x, y, up } of places) {
      const known = measures.value(value), shape = known && shapeText(known);
      if (!known || !shape) continue;
      const text = `${shape}${known.bytes ? `  ${amount(known.bytes, 'B')}` : ''}${count > 1 ? ` +${count - 1}` : ''}`;
      const at: [number, number] = [x + 5, up ? y - 4 : y + size + 1];
      context.strokeText(text, ...at);
      context.fillText(text, ...at);
    }
    context.restore();
    drawn = places.length > 0;
  };
  app.on(['measures'], () => app.view.invalidate());
  return canvas;
}
