// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The renderer's module with names and types: a scene, marks and a camera in, pictures and what is under the pointer out.

import type { RenderModule } from '../../wasm/weft.d.ts';

export interface Rectangle {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** What a point of the view shows. */
export type Picked =
  | { what: 'op'; op: number; flags: number }
  | { what: 'bundle'; op: number; flags: number }
  | { what: 'scope'; scope: number; flags: number }
  | { what: 'group'; scope: number; flags: number }
  | { what: 'value'; value: number; count: number; op: number };

/** What is looked at, on the screen or in a picture: w by h CSS pixels, the world point (x, y) in the top left corner. */
export interface Sight extends Rectangle { scale: number }
export interface EdgePlace { value: number; count: number; x: number; y: number; up: boolean; left: number; right: number }
export interface Marked {
  ops?: ArrayLike<number>;
  scopes?: ArrayLike<number>;
  values?: ArrayLike<number>;
}
export const marks = { selected: 0, related: 1, match: 2, hover: 3 } as const;

/** Bits of a box and of a scene, as inspector/scene.h has them. */
export const nodeFlags = { inPlace: 2, unknown: 4, finding: 8, error: 16, nested: 32, differs: 64, expandable: 256 } as const;
export const sceneFlags = { folded: 2, unchecked: 4, foldable: 8 } as const;
/** From this scale on all that boxes say is drawn: kFullScale of inspector/scene.h. */
export const FULL_SCALE = 0.6;

export const NONE = 0xffffffff;

export class Renderer {
  private readonly module: RenderModule;
  private readonly selector: string;

  constructor(module: RenderModule, selector: string) {
    this.module = module;
    this.selector = selector;
  }

  /** Makes the context. Throws with the reason when the browser gives none. */
  start(): void {
    const pointer = this.module._malloc(256);
    this.module.stringToUTF8(this.selector, pointer, 256);
    const why = this.module._weftStart(pointer);
    this.module._free(pointer);
    if (why) throw new Error(this.module.UTF8ToString(why));
  }
  /** After a lost context came back. */
  restart(): void {
    this.start();
  }
  resize(width: number, height: number, ratio: number): void {
    this.module._weftSize(width, height, ratio);
  }
  setScene(words: Uint32Array): boolean {
    const room = this.module._weftSceneRoom(words.length);
    if (!room) throw new Error('not enough memory for this scene');
    this.module.HEAPU32.set(words, room >> 2);
    return this.module._weftScene(room, words.length) !== 0;
  }
  /** Draws what nobody sees: the driver has compiled all when the first scene comes. */
  rehearse(): void {
    this.module._weftRehearse();
  }
  setTheme(colors: Uint32Array): void {
    this.withWords(colors, (pointer) => this.module._weftTheme(pointer));
  }
  mark(mark: keyof typeof marks, { ops = [], scopes = [], values = [] }: Marked): void {
    const all = new Uint32Array(ops.length + scopes.length + values.length);
    all.set(ops, 0);
    all.set(scopes, ops.length);
    all.set(values, ops.length + scopes.length);
    this.withWords(all, (pointer) => this.module._weftMark(marks[mark], pointer, ops.length, scopes.length, values.length));
  }
  /** A word for each op, see Painter::SetTint in inspector/render/painter.h; none to take the tint away. */
  tint(words: Uint32Array): void {
    this.withWords(words, (pointer) => this.module._weftTint(pointer, words.length));
  }
  /** Where the edges of a part of a sight leave their writers, CSS pixels: one place for each value, with the room that a
   *  line of this height has to its left and right. None where boxes can't be read in full. */
  edgePlaces({ x, y, scale, w, h }: Sight, part: Rectangle, most: number, line: number): EdgePlace[] {
    const at = this.module._weftEdgePlaces(x, y, scale, w, h, part.x, part.y, part.w, part.h, most, line) >> 3, numbers = this.module.HEAPF64;
    return Array.from({ length: numbers[at] ?? 0 }, (_, i) => {
      const [value = 0, count = 0, x = 0, y = 0, up = 0, left = 0, right = 0] = numbers.subarray(at + 1 + 7 * i, at + 8 + 7 * i);
      return { value, count, x, y, up: up === 1, left, right };
    });
  }
  rubberBand(x0: number, y0: number, x1: number, y1: number): void {
    this.module._weftBand(x0, y0, x1 - x0, y1 - y0);
  }
  showMinimap(shown: boolean): void {
    this.module._weftMinimap(shown ? 1 : 0);
  }
  /** Makes a frame; returns the number of quads in it. */
  paint(x: number, y: number, scale: number): number {
    return this.module._weftPaint(x, y, scale);
  }
  /** Draws it. `finish` waits for the GPU. */
  draw(finish = false): void {
    this.module._weftDraw(finish ? 1 : 0);
  }

  pick(x: number, y: number): Picked | null {
    const [hit = 0, kind = 0, id = 0, value = 0, flags = 0] = this.numbers(this.module._weftPick(x, y), 5);
    if ((hit === 1 || hit === 3) && kind !== 0 && flags & nodeFlags.nested) return { what: 'op', op: id & 0x7fffffff, flags }; // what it holds
    if (hit === 1 && kind === 4) return id === NONE ? null : { what: 'value', value: id, count: 1, op: -1 }; // a port
    if (hit === 1) return kind === 0 || kind === 3 ? { what: kind === 0 ? 'op' : 'bundle', op: id, flags } : { what: 'scope', scope: id, flags };
    if (hit === 2) {
      // A chip: of the value that it names, or, where it names none, of the box that it belongs to (whose kind is last).
      if (value !== NONE) return { what: 'value', value, count: 1, op: flags === 1 ? -1 : id };
      return flags === 1 ? { what: 'scope', scope: id, flags: 0 } : { what: 'op', op: id, flags: 0 };
    }
    if (hit === 3) return { what: 'group', scope: id, flags };
    if (hit === 4 && value !== NONE) return { what: 'value', value, count: id, op: -1 };
    return null;
  }
  /** The operators shown in a rectangle of the view, by the middle of their boxes. */
  opsIn(x0: number, y0: number, x1: number, y1: number): Int32Array {
    const at = this.module._weftOpsIn(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0)) >> 2;
    return Int32Array.from(this.module.HEAPU32.subarray(at + 1, at + 1 + (this.module.HEAPU32[at] ?? 0)));
  }
  /** What headings need of the view before the bands at a scale, CSS pixels. */
  headingRoom(scale: number): { left: number; top: number } {
    const [left = 0, top = 0] = this.numbers(this.module._weftHeadingRoom(scale), 2);
    return { left, top };
  }
  bounds(): Rectangle {
    return this.rect(0, 0);
  }
  focus(): Rectangle {
    return this.rect(1, 0);
  }
  /** The margin that the minimap takes from the view: at the right, or at the bottom. */
  margin(): { right: number; bottom: number } {
    const { x, w, h } = this.rect(5, 0);
    return x > 0 ? { right: w, bottom: 0 } : { right: 0, bottom: h };
  }
  /** The box that shows an op: its own, or the one of a collapsed scope. Null when nothing shows it. */
  opRect(op: number): (Rectangle & { own: boolean }) | null {
    const [x = 0, y = 0, w = 0, h = 0, kind = 0] = this.numbers(this.module._weftRect(3, op), 5);
    return w > 0 ? { x, y, w, h, own: kind === 0 } : null;
  }
  scopeRect(scope: number): Rectangle | null {
    const rect = this.rect(4, scope);
    return rect.w > 0 ? rect : null;
  }
  /** The world point under a point of the minimap; null outside, unless a drag that began inside goes on. */
  minimapAt(x: number, y: number, anywhere = false): { x: number; y: number } | null {
    const map = this.rect(2, 0);
    if (map.w <= 0) return null;
    if (!anywhere && (x < map.x || y < map.y || x > map.x + map.w || y > map.y + map.h)) return null;
    const [wx = 0, wy = 0] = this.numbers(this.module._weftMinimapToWorld(x, y), 2);
    return { x: wx, y: wy };
  }
  counts(): { nodes: number; groups: number; edges: number; chips: number; hidden: number; mode: number; flags: number; ops: number } {
    const [nodes = 0, groups = 0, edges = 0, chips = 0, hidden = 0, mode = 0, flags = 0, ops = 0] = this.numbers(this.module._weftCounts(), 8);
    return { nodes, groups, edges, chips, hidden, mode, flags, ops };
  }
  /** The neighbouring box in a direction. */
  nearest(op: number, direction: number): { op: number } | { scope: number } | null {
    const [id = 0, kind = -1] = this.numbers(this.module._weftNearest(op, direction), 2);
    return kind < 0 || kind === 4 ? null : kind === 0 || kind === 3 ? { op: id } : { scope: id };
  }

  private rect(what: number, id: number): Rectangle {
    const [x = 0, y = 0, w = 0, h = 0] = this.numbers(this.module._weftRect(what, id), 4);
    return { x, y, w, h };
  }
  private numbers(pointer: number, count: number): number[] {
    return [...this.module.HEAPF64.subarray(pointer >> 3, (pointer >> 3) + count)];
  }
  private withWords(words: Uint32Array, call: (pointer: number) => void): void {
    const pointer = this.module._malloc(Math.max(words.byteLength, 4));
    this.module.HEAPU32.set(words, pointer >> 2);
    call(pointer);
    this.module._free(pointer);
  }
}
