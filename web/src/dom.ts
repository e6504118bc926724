// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Making DOM nodes. No inline style attributes and no inline handlers: the page's policy forbids them.

type Child = Node | string | number | null | undefined | false;
type NameOf<T extends string> = T extends `${infer N}.${string}` ? NameOf<N> : T extends `${infer N}#${string}` ? N : T;
type ElementOf<T extends string> = NameOf<T> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[NameOf<T>] : HTMLElement;
type Props = Record<string, unknown>;

/** h('button.quiet#id', {onclick, title}, 'text'): an element with classes, properties and children. */
export function h<T extends string>(tag: T, ...rest: (Props | Child | Child[])[]): ElementOf<T> {
  const [, name = 'div', tail = ''] = /^([a-z0-9]*)(.*)$/.exec(tag) ?? [];
  const element = document.createElement(name || 'div');
  for (const part of tail.match(/[.#][^.#]+/g) ?? []) {
    if (part[0] === '.') element.classList.add(part.slice(1));
    else element.id = part.slice(1);
  }
  for (const item of rest.flat()) {
    if (item === null || item === undefined || item === false) continue;
    if (item instanceof Node) element.append(item);
    else if (typeof item === 'object') setProps(element, item);
    else element.append(String(item));
  }
  return element as ElementOf<T>;
}

function setProps(element: HTMLElement, props: Props): void {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value as EventListener);
    else if (key.startsWith('aria-') || key.startsWith('data-') || key === 'role' || key === 'for' || key === 'list') {
      element.setAttribute(key, String(value));
    } else (element as unknown as Props)[key] = value;
  }
}

/** A small line drawing, 16 by 16, stroked with the text's colour. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('icon');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

const number = new Intl.NumberFormat('en');
export const count = (n: number, one: string, many = one + 's'): string => `${number.format(n)} ${n === 1 ? one : many}`;
export const digits = (n: number): string => number.format(n);

/** Bytes, counted by 1000 everywhere in the page, as the command counts them (amount() in measures.ts writes its way). */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let unit = -1;
  for (; n >= 999.5 && unit < units.length - 1; ++unit) n /= 1000;
  return `${n < 9.95 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}
