// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph on its canvas: camera, pointer, wheel and touch, and when to draw. What is drawn is the renderer's affair,
// what a click means is the app's.

import type { Picked, Renderer, Rectangle, Sight } from './render.ts';

export interface Camera {
  x: number; // world coordinates of the view's centre
  y: number;
  scale: number; // CSS pixels per world unit
}
/** A camera, and where on the page the view's centre was. */
export interface Stand extends Camera { middle?: { x: number; y: number } }

export interface ViewEvents {
  select(picked: Picked | null, event: { extend: boolean }): void;
  enter(picked: Picked, event: { all: boolean }): void;
  hover(picked: Picked | null, x: number, y: number): void;
  /** A rectangle of the view was dragged with Shift. */
  chosen(x0: number, y0: number, x1: number, y1: number): void;
  moved(): void;
  /** Panels took room or gave some; before, `sight` was seen. */
  resized(sight: Sight): void;
}

const MAX_SCALE = 6;
const MARGIN = 24; // around what is fitted into the view
const still = matchMedia('(prefers-reduced-motion: reduce)');

export class View {
  readonly canvas: HTMLCanvasElement;
  camera: Camera = { x: 0, y: 0, scale: 1 };
  /** Called after each frame. */
  drawn: () => void = () => {};
  wheelZooms = false;
  /** Wait for the GPU in each frame, so that its time can be told. */
  measure = false;
  /** The last frame: milliseconds spent making it outside GL and in GL's calls, quads drawn. */
  frame = { paint: 0, gl: 0, quads: 0, count: 0 };
  private readonly render: Renderer;
  private readonly events: ViewEvents;
  private dirty = false;
  private ratio = 0;
  /** The canvas: its size, where its middle is on the page, whole pixels; and how large the page is. */
  private place = { width: 0, height: 0, middle: { x: 0, y: 0 }, window: '' };
  private flight: { from: Camera; to: Camera; start: number; ms: number } | null = null;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private drag: { x: number; y: number; moved: boolean; mode: 'pan' | 'zoom' | 'map' | 'choose' } | null = null;
  private afterFrame: (() => void)[] = [];

  constructor(canvas: HTMLCanvasElement, render: Renderer, events: ViewEvents) {
    this.canvas = canvas;
    this.render = render;
    this.events = events;
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => this.resize());
    canvas.addEventListener('pointerdown', (e) => this.down(e));
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('pointerup', (e) => this.up(e));
    canvas.addEventListener('pointercancel', (e) => this.up(e));
    canvas.addEventListener('pointerleave', () => events.hover(null, 0, 0));
    canvas.addEventListener('dblclick', (e) => {
      const picked = this.render.pick(e.offsetX, e.offsetY);
      if (picked) events.enter(picked, { all: e.altKey });
    });
    canvas.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    canvas.addEventListener('webglcontextlost', (e) => e.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.render.restart();
      this.invalidate();
    });
    this.resize();
  }

  get width(): number {
    return this.canvas.clientWidth;
  }
  get height(): number {
    return this.canvas.clientHeight;
  }

  invalidate(): void {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  /** Calls `then` once the next frame has been drawn. */
  onFrame(then: () => void): void {
    this.afterFrame.push(then);
    this.invalidate();
  }

  /** Width and height of what the graph has to itself. */
  private room(): { width: number; height: number; right: number; bottom: number } {
    const { right, bottom } = this.render.margin();
    return { width: this.width - right, height: this.height - bottom, right, bottom };
  }
  /** The part of the graph that is in sight. */
  sight({ width, height } = { width: this.width, height: this.height }): Sight {
    const { x, y, scale } = this.camera, { right, bottom } = this.render.margin();
    return { x: x - width / 2 / scale, y: y - height / 2 / scale, scale, w: width - right, h: height - bottom };
  }
  /** The scale at which everything can be seen at once. */
  fitScale(rect: Rectangle): number {
    const { width, height } = this.room();
    const within = ({ left, top }: { left: number; top: number }) =>
      Math.min(Math.max(width - left - MARGIN, 50) / Math.max(rect.w, 1), Math.max(height - top - MARGIN, 50) / Math.max(rect.h, 1), 1.25);
    return within(this.before(within({ left: MARGIN, top: MARGIN })));
  }
  /** The margins at the left and at the top, where headings are. */
  private before(scale: number): { left: number; top: number } {
    const { left, top } = this.render.headingRoom(scale);
    return { left: Math.max(left, MARGIN), top: Math.max(top, MARGIN) };
  }
  fit(rect: Rectangle = this.render.bounds(), animate = true): void {
    this.resize(false);
    const scale = this.fitScale(rect);
    const { right, bottom } = this.room(), { left, top } = this.before(scale);
    this.fly({ x: rect.x + rect.w / 2 + (right + MARGIN - left) / 2 / scale, y: rect.y + rect.h / 2 + (bottom + MARGIN - top) / 2 / scale, scale }, animate);
  }
  /** Shows all when all can be read, else the place to begin at, at a size that can be read. */
  open(): void {
    this.resize(false);
    const all = this.render.bounds();
    if (this.fitScale(all) >= 0.5) return this.fit(all, false);
    const { width, height } = this.room();
    const room = width - 2 * MARGIN;
    const focus = this.render.focus();
    const scale = Math.min(Math.max(room / Math.max(all.w, 1), Math.min(this.fitScale(focus), 1), 0.7), 1);
    // As much of the whole width as fits, else where to begin, else the first operator.
    const first = this.render.opRect(0);
    const centre = all.w * scale <= room ? all : focus.w * scale <= room ? focus : first ?? focus;
    const left = centre.x + centre.w / 2 - room / 2 / scale;
    const x = Math.min(Math.max(left, all.x), all.w * scale <= room ? left : all.x + all.w - room / scale);
    const top = first && (first.y - focus.y) * scale > height - 100 ? first.y - 100 : focus.y;
    this.fly({ x: (centre === all ? left : x) + (this.width / 2 - MARGIN) / scale, y: top + (this.height / 2 - MARGIN) / scale, scale }, false);
  }
  /** Moves as little as it can so that `rect`, which has room, is seen. */
  show(rect: Rectangle): void {
    const { x, y, w, h, scale } = this.sight(), edge = 8 / scale, { camera } = this;
    const by = (from: number, size: number, at: number, room: number) => Math.min(0, from - edge - at) + Math.max(0, from + size + edge - at - room);
    this.set({ ...camera, x: camera.x + by(rect.x, rect.w, x, w / scale), y: camera.y + by(rect.y, rect.h, y, h / scale) });
  }
  /** To come back to by `take`. */
  stand(): Stand {
    this.resize(false);
    return { ...this.camera, middle: this.place.middle };
  }
  /** Shows what was seen there, at the same place of the page. */
  take({ x, y, scale, middle }: Stand): void {
    this.resize(false);
    const now = this.place.middle, before = middle ?? now;
    this.set({ x: x + (now.x - before.x) / scale, y: y + (now.y - before.y) / scale, scale });
  }
  /** Moves as little as it can so that `rect` is seen, at a readable size. */
  reveal(rect: Rectangle, zoom = true): void {
    const target = { ...(this.flight?.to ?? this.camera) };
    if (zoom && target.scale < 0.6) target.scale = 0.9;
    const { width, height, right, bottom } = this.room();
    if (rect.w * target.scale > width * 0.9 || rect.h * target.scale > height * 0.9) return this.fit(rect);
    const mx = Math.min(90, width / 5), my = Math.min(90, height / 5);
    const x0 = target.x - (this.width / 2 - mx) / target.scale, x1 = target.x + (this.width / 2 - mx - right) / target.scale;
    const y0 = target.y - (this.height / 2 - my) / target.scale, y1 = target.y + (this.height / 2 - my - bottom) / target.scale;
    if (rect.x < x0) target.x -= x0 - rect.x;
    else if (rect.x + rect.w > x1) target.x += rect.x + rect.w - x1;
    if (rect.y < y0) target.y -= y0 - rect.y;
    else if (rect.y + rect.h > y1) target.y += rect.y + rect.h - y1;
    this.fly(target);
  }
  pan(dx: number, dy: number): void {
    this.set({ ...this.camera, x: this.camera.x + dx / this.camera.scale, y: this.camera.y + dy / this.camera.scale });
  }
  /** Zooms so that the world under (x, y) stays there. */
  zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    const { camera } = this;
    const scale = Math.min(Math.max(camera.scale * factor, this.minScale()), MAX_SCALE);
    const dx = x - this.width / 2, dy = y - this.height / 2;
    this.set({ x: camera.x + dx / camera.scale - dx / scale, y: camera.y + dy / camera.scale - dy / scale, scale });
  }
  zoomTo(scale: number): void {
    this.fly({ ...this.camera, scale });
  }
  set(camera: Camera): void {
    this.flight = null;
    this.camera = camera;
    this.events.moved();
    this.invalidate();
  }
  fly(to: Camera, animate = true): void {
    if (!animate || still.matches || document.hidden) return this.set(to);
    this.flight = { from: { ...this.camera }, to, start: performance.now(), ms: 220 };
    this.invalidate();
  }
  toScreen(x: number, y: number): { x: number; y: number } {
    return { x: (x - this.camera.x) * this.camera.scale + this.width / 2, y: (y - this.camera.y) * this.camera.scale + this.height / 2 };
  }

  private minScale(): number {
    const { w, h } = this.render.bounds();
    return Math.min(0.5 * Math.min(this.width / Math.max(w, 1), this.height / Math.max(h, 1)), 0.2);
  }

  /** After somebody else drew on the canvas. */
  redraw(): void {
    this.ratio = 0;
    this.resize();
  }

  /** After panels came or went, what is seen stays where it is on the page. In a window of another size the centre stays. */
  private follow(): Sight | null {
    const { width, height } = this, { x, y } = this.canvas.getBoundingClientRect(), before = this.place;
    // The middle is where the renderer has it, so that what was sharp stays so.
    const ratio = devicePixelRatio || 1, middle = (from: number, size: number) => (Math.round(from * ratio) + Math.floor(Math.round(size * ratio) / 2)) / ratio;
    this.place = { width, height, middle: { x: middle(x, width), y: middle(y, height) }, window: `${innerWidth} ${innerHeight}` };
    if (before.window !== this.place.window) return null;
    const dx = this.place.middle.x - before.middle.x, dy = this.place.middle.y - before.middle.y;
    if (dx === 0 && dy === 0 && width === before.width && height === before.height) return null;
    const sight = this.sight(before);
    const moved = (camera: Camera) => ({ ...camera, x: camera.x + dx / camera.scale, y: camera.y + dy / camera.scale });
    this.camera = moved(this.camera);
    if (this.flight) Object.assign(this.flight, { from: moved(this.flight.from), to: moved(this.flight.to) });
    return sight;
  }
  /** `drawn`: at once, for a resized canvas is blank until the next frame. */
  private resize(drawn = true): void {
    const ratio = devicePixelRatio || 1, before = this.follow();
    const width = Math.max(Math.round(this.canvas.clientWidth * ratio), 1), height = Math.max(Math.round(this.canvas.clientHeight * ratio), 1);
    const same = this.canvas.width === width && this.canvas.height === height && ratio === this.ratio;
    if (!same) {
      this.ratio = ratio;
      this.canvas.width = width;
      this.canvas.height = height;
      this.render.resize(width, height, ratio);
    }
    if (before) {
      this.events.moved();
      if (!this.flight) this.events.resized(before);
    }
    if (!same && drawn) this.draw();
    else if (!same || before) this.invalidate();
  }

  private tick(now: number): void {
    this.dirty = false;
    if (this.flight) {
      const { from, to, start, ms } = this.flight;
      const t = Math.min(Math.max((now - start) / ms, 0), 1);
      const s = t * t * (3 - 2 * t);
      const moves = Math.abs(to.scale - from.scale) < 1e-9 * from.scale; // and does not zoom
      const scale = moves ? to.scale : Math.exp(Math.log(from.scale) * (1 - s) + Math.log(to.scale) * s);
      // Where zooming and moving go together, the point moves as the scale does, so that the path looks straight.
      const k = moves ? s : (1 / scale - 1 / from.scale) / (1 / to.scale - 1 / from.scale);
      this.camera = { x: from.x + (to.x - from.x) * k, y: from.y + (to.y - from.y) * k, scale };
      if (t >= 1) {
        this.camera = to;
        this.flight = null;
      }
      this.events.moved();
    }
    this.draw();
    if (this.flight) this.invalidate();
    const then = this.afterFrame;
    this.afterFrame = [];
    for (const call of then) call();
  }

  private draw(): void {
    const { x, y, scale } = this.camera;
    const t0 = performance.now();
    this.frame.quads = this.render.paint(x, y, scale);
    const t1 = performance.now();
    this.render.draw(this.measure);
    this.frame.gl = performance.now() - t1;
    this.frame.paint = t1 - t0;
    this.drawn();
    ++this.frame.count;
  }

  private down(e: PointerEvent): void {
    this.canvas.setPointerCapture(e.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (e.button > 1) return;
    const map = this.render.minimapAt(e.offsetX, e.offsetY);
    this.drag = { x: e.offsetX, y: e.offsetY, moved: false, mode: map ? 'map' : e.ctrlKey || e.metaKey ? 'zoom' : e.shiftKey ? 'choose' : 'pan' };
    this.flight = null;
    if (map) this.set({ ...this.camera, x: map.x, y: map.y });
  }

  private move(e: PointerEvent): void {
    const before = this.pointers.get(e.pointerId);
    if (!before || !this.drag) {
      if (e.pointerType !== 'touch') this.hover(e);
      return;
    }
    const now = { x: e.offsetX, y: e.offsetY };
    if (this.pointers.size === 2) {
      const other = [...this.pointers.entries()].find(([id]) => id !== e.pointerId)?.[1] ?? now;
      const apart = (p: { x: number; y: number }) => Math.max(Math.hypot(p.x - other.x, p.y - other.y), 1);
      this.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      this.pan((before.x - now.x) / 2, (before.y - now.y) / 2);
      this.drag.moved = true;
    } else if (this.drag.mode === 'map') {
      const map = this.render.minimapAt(now.x, now.y, true);
      if (map) this.set({ ...this.camera, x: map.x, y: map.y });
      this.drag.moved = true;
    } else {
      if (!this.drag.moved && Math.hypot(now.x - this.drag.x, now.y - this.drag.y) < 4) return;
      if (!this.drag.moved) {
        this.drag.moved = true;
        this.canvas.classList.add('grabbing');
        this.events.hover(null, 0, 0);
      }
      if (this.drag.mode === 'pan') this.pan(before.x - now.x, before.y - now.y);
      else {
        this.render.rubberBand(this.drag.x, this.drag.y, now.x, now.y);
        this.invalidate();
      }
    }
    this.pointers.set(e.pointerId, now);
  }

  private up(e: PointerEvent): void {
    this.pointers.delete(e.pointerId);
    const drag = this.drag;
    if (!drag || this.pointers.size > 0) return;
    this.drag = null;
    this.canvas.classList.remove('grabbing');
    this.render.rubberBand(0, 0, 0, 0);
    if (drag.mode === 'map' || e.type === 'pointercancel') return;
    if (!drag.moved) {
      this.events.select(this.render.pick(e.offsetX, e.offsetY), { extend: e.shiftKey });
      return;
    }
    if (drag.mode === 'choose') {
      this.events.chosen(drag.x, drag.y, e.offsetX, e.offsetY);
      return this.invalidate();
    }
    if (drag.mode === 'zoom') {
      const { camera } = this;
      const wx = (x: number) => camera.x + (x - this.width / 2) / camera.scale;
      const wy = (y: number) => camera.y + (y - this.height / 2) / camera.scale;
      const w = Math.abs(e.offsetX - drag.x) / camera.scale, h = Math.abs(e.offsetY - drag.y) / camera.scale;
      if (w * camera.scale < 8 || h * camera.scale < 8) return this.invalidate();
      const scale = Math.min(this.width / w, this.height / h, MAX_SCALE);
      this.fly({ x: wx(Math.min(e.offsetX, drag.x)) + w / 2, y: wy(Math.min(e.offsetY, drag.y)) + h / 2, scale });
    }
  }

  private hover(e: PointerEvent): void {
    const picked = this.render.minimapAt(e.offsetX, e.offsetY) ? null : this.render.pick(e.offsetX, e.offsetY);
    this.canvas.classList.toggle('over', picked !== null);
    this.events.hover(picked, e.offsetX, e.offsetY);
  }

  private wheel(e: WheelEvent): void {
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 18 : e.deltaMode === 2 ? this.height : 1;
    const zooms = e.ctrlKey || e.metaKey || this.wheelZooms;
    if (zooms) {
      const step = Math.max(-80, Math.min(80, e.deltaY * unit));
      this.zoom(Math.exp(-step * (e.ctrlKey && Math.abs(e.deltaY) < 40 ? 0.01 : 0.0035)), e.offsetX, e.offsetY);
    } else if (e.shiftKey && e.deltaX === 0) this.pan(e.deltaY * unit, 0);
    else this.pan(e.deltaX * unit, e.deltaY * unit);
  }
}
