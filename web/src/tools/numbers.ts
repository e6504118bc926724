// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors on a screen: statistics, a histogram, a strip of values, a list of all of them, a line over iterations. The
// numbers are the command's.

import './numbers.css';
import { digits, h } from '../dom.ts';
import { VirtualList } from '../virtual_list.ts';

export interface Numbers {
  type: string;
  shape: number[];
  elements: number;
  min: number | null; // of finite elements; null when there are none
  max: number | null;
  mean: number | null;
  std: number | null;
  nan: number;
  inf: number;
  zeros: number;
  histogram: { low: number | null; high: number | null; counts: number[] };
}
export type Element = number | string | boolean; // "nan", "inf" and "-inf" are texts

/** Five digits, as short as they go. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(3).replace(/\.?0+e/, 'e').replace('-', '−');
  return String(Number(value.toPrecision(5))).replace('-', '−');
}
export const shapeText = (shape: number[] | null): string => (shape ? `[${shape.join(', ')}]` : '?');
const isBad = (value: Element): boolean => value === 'nan' || value === 'inf' || value === '-inf';

function svg(name: string, width: number, height: number, what: string): SVGSVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  element.setAttribute('viewBox', `0 0 ${width} ${height}`);
  element.setAttribute('preserveAspectRatio', 'none');
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', what);
  element.classList.add(name);
  return element;
}
function shape(parent: SVGElement, tag: string, attributes: Record<string, string | number>, title = ''): void {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (title) {
    const text = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    text.textContent = title;
    element.append(text);
  }
  parent.append(element);
}

/** Range, mean and deviation in one table; what is not finite in red. */
export function statistics(n: Numbers): HTMLElement {
  const cell = (label: string, value: string, bad = false) => h('div' + (bad ? '.bad' : ''), h('span', label), h('b', value));
  return h('div.statistics', cell('min', short(n.min)), cell('mean', short(n.mean)), cell('max', short(n.max)), cell('deviation', short(n.std)),
    cell('zeros', digits(n.zeros)), cell('NaN', digits(n.nan), n.nan > 0), cell('infinite', digits(n.inf), n.inf > 0), cell('elements', digits(n.elements)));
}

export function histogram({ histogram: { low, high, counts } }: Numbers): HTMLElement {
  if (low === null || high === null || counts.length === 0) return h('p.hint', 'No finite numbers.');
  if (low === high) return h('p.hint', `All finite elements are ${short(low)}.`);
  const most = Math.max(...counts), width = counts.length * 10, step = (high - low) / counts.length;
  const picture = svg('histogram', width, 60, `Histogram from ${short(low)} to ${short(high)}`);
  counts.forEach((count, i) => {
    const tall = count === 0 ? 0 : Math.max(1, (58 * count) / most);
    shape(picture, 'rect', { x: i * 10 + 0.5, y: 60 - tall, width: 9, height: tall }, `${digits(count)} from ${short(low + i * step)} to ${short(low + (i + 1) * step)}`);
  });
  return h('div', picture, h('div.axis', h('span', short(low)), h('span', short(high))));
}

/** The first elements as shades between the least and the largest. */
export function strip(values: Element[]): HTMLElement | null {
  const numbers = values.map((v) => (typeof v === 'number' ? v : typeof v === 'boolean' ? Number(v) : NaN));
  const finite = numbers.filter(Number.isFinite);
  if (numbers.length < 2 || (finite.length === 0 && !values.some(isBad))) return null;
  const low = Math.min(...finite), high = Math.max(...finite);
  const picture = svg('strip', numbers.length * 4, 14, `The first ${numbers.length} elements`);
  numbers.forEach((value, i) => shape(picture, 'rect', {
    x: i * 4, y: 0, width: 3.6, height: 14, class: Number.isFinite(value) ? 'shade' : 'bad', 'fill-opacity': Number.isFinite(value) ? 0.06 + 0.94 * (high > low ? (value - low) / (high - low) : 0.5) : 1,
  }, `${i}: ${typeof values[i] === 'number' ? short(value) : String(values[i])}`));
  return h('div', picture);
}

/** A line over iterations; where there is no number, a red mark. `band` lies behind it. */
export function lineChart(name: string, values: (number | null)[], band?: { min: (number | null)[]; max: (number | null)[] }): HTMLElement {
  const all = [...values, ...(band?.min ?? []), ...(band?.max ?? [])].filter((v): v is number => v !== null);
  const low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  const width = 300, height = 44, x = (i: number) => (values.length < 2 ? width / 2 : (i * (width - 4)) / (values.length - 1) + 2);
  const y = (v: number) => (high > low ? height - 3 - ((v - low) * (height - 6)) / (high - low) : height / 2);
  const picture = svg('line', width, height, `${name} over ${values.length} iterations, from ${short(values[0])} to ${short(values.at(-1))}`);
  if (band) {
    const there = values.map((_, i) => i).filter((i) => typeof band.min[i] === 'number' && typeof band.max[i] === 'number');
    const points = [...there.map((i) => `${x(i)},${y(band.max[i] as number)}`), ...there.reverse().map((i) => `${x(i)},${y(band.min[i] as number)}`)];
    shape(picture, 'polygon', { points: points.join(' '), class: 'band' });
  }
  let run: string[] = [];
  const end = () => {
    if (run.length > 0) shape(picture, 'polyline', { points: run.length > 1 ? run.join(' ') : `${run[0]} ${run[0]}` });
    run = [];
  };
  values.forEach((value, i) => {
    if (value !== null) return void run.push(`${x(i)},${y(value)}`);
    end();
    shape(picture, 'line', { x1: x(i), x2: x(i), y1: 2, y2: height - 2, class: 'bad' }, `iteration ${i + 1}: not finite`);
  });
  end();
  return h('figure.linechart', h('figcaption', h('span.mono', name), h('span.ends', `${short(values[0])} → `, h('b', short(values.at(-1))))), picture);
}

/** All elements, a row each, fetched a thousand at a time. */
export class ValueList {
  readonly element: HTMLElement;
  private readonly list: VirtualList;
  private readonly chunks = new Map<number, Element[] | null>();
  private readonly load: (from: number) => Promise<Element[]>;
  private dims: number[] = [];
  static readonly chunk = 1000;

  constructor(load: (from: number) => Promise<Element[]>) {
    this.load = load;
    this.list = new VirtualList('values', 20, (first, count) => Array.from({ length: count }, (_, i) => this.row(first + i)));
    this.list.element.setAttribute('aria-label', 'Values');
    this.element = this.list.element;
  }
  show(dims: number[], elements: number, first: Element[]): void {
    this.dims = dims;
    this.chunks.clear();
    this.chunks.set(0, first);
    this.element.style.height = `${Math.min(elements, 12) * 20}px`;
    this.list.scrollTo(0);
    this.list.setCount(elements);
  }
  private row(i: number): HTMLElement | null {
    const at = i - (i % ValueList.chunk), chunk = this.chunks.get(at);
    if (chunk === undefined) {
      this.chunks.set(at, null);
      void this.load(at).then((values) => this.chunks.set(at, values), () => this.chunks.delete(at)).then(() => this.list.invalidate());
    }
    const value = chunk?.[i - at];
    if (value === undefined) return null;
    const index = this.dims.reduceRight<{ rest: number; at: number[] }>(({ rest, at: to }, d) => ({ rest: Math.floor(rest / d), at: [rest % d, ...to] }), { rest: i, at: [] }).at;
    return h('div.line', h('span.fainter', `[${index.join(', ')}]`), h('span' + (isBad(value) ? '.bad' : ''), typeof value === 'number' ? value : String(value)));
  }
}
