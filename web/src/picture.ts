// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph as a PNG, drawn by the renderer in tiles, with what stands beside edges; two pixels for each CSS pixel.

import { type EdgeLabel, write } from './edge_labels.ts';
import { cancelledError } from './engine.ts';
import type { Renderer, Rectangle } from './render.ts';

export const RATIO = 2;
/** What browsers still make a picture of. */
export const MAX_SIDE = 16_384, MAX_PIXELS = 100_000_000;
const TILE = 4096;
const HEADING = 45; // CSS pixels at the top of a view, where headings stay

/** The scale at which a rectangle of the world becomes a picture: `wanted`, or less when that would be too large. */
export const pictureScale = ({ w, h }: Rectangle, wanted: number): number =>
  Math.min(wanted, MAX_SIDE / RATIO / w, MAX_SIDE / RATIO / h, Math.sqrt(MAX_PIXELS / (w * h)) / RATIO);

/** Draws on the view's canvas, tile after tile; `restore` gives it back after each. */
export async function scenePicture(render: Renderer, canvas: HTMLCanvasElement, rect: Rectangle, scale: number, labels: EdgeLabel[], restore: () => void, stop: { stopped: boolean }): Promise<Blob> {
  const width = Math.max(Math.round(rect.w * scale * RATIO), 1), height = Math.max(Math.round(rect.h * scale * RATIO), 1);
  const whole = document.createElement('canvas');
  [whole.width, whole.height] = [width, height];
  const context = whole.getContext('2d');
  if (!context) throw new Error('the browser gives no room for a picture of this size');
  for (let y = 0; y < height; y += TILE) {
    // Below the first row a heading's height more is drawn and cut off, since headings stay at the top of a view.
    const above = y > 0 ? HEADING * RATIO : 0;
    for (let x = 0; x < width; x += TILE) {
      const w = Math.min(TILE, width - x), h = Math.min(TILE, height - y) + above;
      try {
        render.showMinimap(false);
        [canvas.width, canvas.height] = [w, h];
        render.resize(w, h, RATIO);
        render.paint(rect.x + (x + w / 2) / RATIO / scale, rect.y + (y - above + h / 2) / RATIO / scale, scale);
        render.draw();
        context.drawImage(canvas, 0, above, w, h - above, x, y, w, h - above);
      } finally {
        render.showMinimap(true);
        restore();
      }
      await new Promise((go) => setTimeout(go));
      if (stop.stopped) throw cancelledError();
    }
  }
  context.scale(RATIO, RATIO);
  write(context, labels, scale);
  return new Promise((resolve, reject) => whole.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser made no picture of this size'))), 'image/png'));
}
