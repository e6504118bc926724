// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A scene (inspector/scene.h) as SVG: what the renderer draws at full size, with text as text. Written in slices, so
// that the page stays at hand; `stop` ends it.

import { type EdgeLabel, HALO, letters } from './edge_labels.ts';
import { pauses } from './engine.ts';
import { NONE, nodeFlags, type Rectangle } from './render.ts';
import { signs } from './signs.ts';
import { colorNames } from './theme.ts';

type Colors = Record<(typeof colorNames)[number], string>;

const MAGIC = 0x31534657;
const SANS = "Inter, 'Helvetica Neue', Arial, sans-serif";
const roles = ['forward', 'backward', 'update', 'plain'] as const; // in the order of Role
const section = { bands: 0, groups: 1, nodes: 2, chips: 3, edges: 4, opNodes: 6, strings: 10, text: 11 };

/** What stands beside edges, in CSS pixels of a picture of that scale. */
export interface Beside { labels: EdgeLabel[]; scale: number }

/** `rect` in world units; a scale of 2 makes a picture twice as wide. `tints`: by operator, as Renderer.tint takes them. */
export async function sceneToSvg(words: Uint32Array, rect: Rectangle, scale: number, theme: Uint32Array, tints: Uint32Array, beside: Beside, title: string, stop: { stopped: boolean }): Promise<Blob> {
  if (words[0] !== MAGIC) throw new Error('this is not a scene');
  const ints = new Int32Array(words.buffer, words.byteOffset, words.length);
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const colors = Object.fromEntries(colorNames.map((name, i) => [name, '#' + (theme[i] ?? 0).toString(16).padStart(6, '0')])) as Colors;
  const range = (which: number): [number, number] => [words[16 + 2 * which] ?? 0, words[17 + 2 * which] ?? 0];
  const [strings] = range(section.strings), [texts] = range(section.text);
  const decoder = new TextDecoder();
  const string = (index: number): string => {
    const at = texts * 4 + (words[strings + 2 * index] ?? 0);
    return decoder.decode(bytes.subarray(at, at + (words[strings + 2 * index + 1] ?? 0)));
  };
  const measure = document.createElement('canvas').getContext('2d')!;
  /** Text that is wider than its room ends in an ellipsis. */
  const elide = (text: string, size: number, weight: number, room: number): string => {
    measure.font = `${weight} ${size}px ${SANS}`;
    if (measure.measureText(text).width <= room) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (measure.measureText(text.slice(0, middle) + '…').width <= room) low = middle;
      else high = middle - 1;
    }
    return low > 0 ? text.slice(0, low) + '…' : '';
  };

  const parts: string[] = [];
  const add = (...pieces: (string | number)[]) => parts.push(pieces.join(''));
  const word = (x: number, y: number, size: number, weight: number, color: string, text: string, room: number, more = '') => {
    const shown = elide(text, size, weight, room);
    if (shown) add(`<text x="${num(x)}" y="${num(y)}" class="${weight > 500 ? 'b' : 'r'}" font-size="${size}" fill="${color}"${more}>${escape(shown)}</text>\n`);
  };
  const outside = (x: number, y: number, w: number, h: number) => x > rect.x + rect.w || y > rect.y + rect.h || x + w < rect.x || y + h < rect.y;
  const pause = pauses(stop);
  const each = async (which: number, size: number, draw: (at: number) => void) => {
    const [first, count] = range(which);
    for (let i = 0; i < count; ++i) {
      if ((i & 255) === 0) await pause();
      draw(first + i * size);
    }
  };

  add(`<svg xmlns="http://www.w3.org/2000/svg" width="${num(rect.w * scale)}" height="${num(rect.h * scale)}" viewBox="${num(rect.x)} ${num(rect.y)} ${num(rect.w)} ${num(rect.h)}">\n`,
    `<title>${escape(title)}</title>\n<style>text{font-family:${SANS};white-space:pre}.b{font-weight:600}.e{fill:none}.l{paint-order:stroke;stroke-linejoin:round}</style>\n`,
    `<rect x="${num(rect.x)}" y="${num(rect.y)}" width="${num(rect.w)}" height="${num(rect.h)}" fill="${colors.paper}"/>\n`);

  await each(section.bands, 8, (at) => {
    const [x = 0, y = 0, w = 0, h = 0] = ints.subarray(at, at + 4);
    if (outside(x, y, w, h)) return;
    const color = colors[roles[words[at + 4] ?? 0] ?? 'plain'], name = string(words[at + 6] ?? 0);
    add(`<rect ${box(x, y, w, h)} fill="${color}" fill-opacity=".035"/>\n`);
    if (!name) return;
    add(`<rect ${box(x, y, w, 26)} fill="${color}" fill-opacity=".05"/><path d="M${x} ${y + 25.5}h${w}" stroke="${color}" stroke-opacity=".35"/>\n`);
    word(x + 10, y + 17, 11, 600, color, name, w - 20);
  });
  await each(section.groups, 12, (at) => {
    const [x = 0, y = 0, w = 0, h = 0] = ints.subarray(at, at + 4);
    if (outside(x, y, w, h)) return;
    add(`<rect ${box(x + 0.5, y + 0.5, w - 1, h - 1)} fill="${colors.group}" fill-opacity=".8" stroke="${colors.groupBorder}"/>\n`);
  });

  await each(section.edges, 8, (at) => {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, mid = 0] = ints.subarray(at, at + 5);
    const style = words[at + 6] ?? 0, kind = style & 255, role = (style >> 8) & 255, flag = style >> 16, hvh = (flag & 1) !== 0;
    const left = Math.min(x0, x1, hvh ? mid : x0), top = Math.min(y0, y1, hvh ? y0 : mid);
    if (outside(left, top, Math.max(x0, x1, hvh ? mid : x0) - left, Math.max(y0, y1, hvh ? y0 : mid) - top)) return;
    let color = colors.edge, more = '', width = 1.25;
    if (kind === 0 && role !== 0) color = mix(color, colors[roles[role] ?? 'plain'], 0.35);
    else if (kind === 1) [color, more, width] = [colors.stash, ' stroke-opacity=".75" stroke-dasharray="2 2"', 1];
    else if (kind === 2) color = mix(color, colors.update, 0.4);
    else if (kind === 3) more = ' stroke-dasharray="6 4"';
    if (flag & 4) width *= (words[at + 7] ?? 0) > 8 ? 1.9 : 1.4;
    const points = hvh ? [[x0, y0], [mid, y0], [mid, y1], [x1, y1]] : [[x0, y0], [x0, mid], [x1, mid], [x1, y1]];
    const line = (hvh ? y0 === y1 : x0 === x1) ? [points[0]!, points[3]!] : points;
    const end = line.at(-1)!, from = line.at(-2)!;
    const dx = Math.sign(end[0]! - from[0]!), dy = Math.sign(end[1]! - from[1]!);
    const arrow = flag & 2;
    if (arrow) line[line.length - 1] = [end[0]! - dx * 4.8, end[1]! - dy * 4.8];
    add(`<path class="e" d="${rounded(line)}" stroke="${color}" stroke-width="${num(width)}"${more}/>`);
    if (arrow) add(`<path d="M${end[0]} ${end[1]}L${num(end[0]! - dx * 6 - dy * 2.5)} ${num(end[1]! - dy * 6 - dx * 2.5)}L${num(end[0]! - dx * 6 + dy * 2.5)} ${num(end[1]! - dy * 6 + dx * 2.5)}z" fill="${color}"/>`);
    add('\n');
  });

  // Titles of frames over the edges, which pass beneath a plate of the frame's own colour.
  await each(section.groups, 12, (at) => {
    const [x = 0, y = 0, w = 0] = ints.subarray(at, at + 3);
    const title = elide(string(words[at + 6] ?? 0), 12, 600, w - 18);
    if (!title || outside(x, y, w, 22)) return;
    const plate = words[at + 8] === NONE ? mix(colors.paper, colors.group, 0.8) : colors.group;
    add(`<rect ${box(x + 6, y + 3, measure.measureText(title).width + 6, 15.6)} fill="${plate}"/>`);
    word(x + 9, y + 15, 12, 600, colors.ink2, title, w - 18);
  });

  // The strongest tint of the operators that a box shows, as the renderer has it.
  const [nodes, numNodes] = range(section.nodes), [opNodes, numOps] = range(section.opNodes);
  const tintOf = new Uint32Array(tints.length > 0 ? numNodes : 0), strength = (tint: number) => (tint >>> 24) & 127;
  for (let op = 0; op < Math.min(tints.length, numOps); ++op) {
    const node = words[opNodes + op] ?? 0, tint = tints[op] ?? 0;
    if (strength(tint) > strength(tintOf[node] ?? 0)) tintOf[node] = tint;
  }
  const [chips] = range(section.chips);
  const chip = (at: number) => {
    const [x = 0, y = 0, w = 0, h = 0] = ints.subarray(at, at + 4);
    const kind = (words[at + 4] ?? 0) & 255;
    // Parameters are filled; inputs and outputs of the net framed; references framed and empty; arguments and "+3" are words only.
    const [fill, border] = kind === 0 ? [colors.chip, 'none'] : kind < 3 ? [colors.paper, colors.boxBorder] : kind === 5 || kind === 7 ? ['none', 'none'] : ['none', colors.boxBorder];
    if (fill !== 'none' || border !== 'none') add(`<rect ${box(x + 0.5, y + 0.5, w - 1, h - 1)} rx="${kind === 0 ? 3 : h / 2}" fill="${fill}" stroke="${border}"/>`);
    word(x + 5, y + 11, 10, 400, kind === 5 ? colors.ink3 : colors.ink2, string(words[at + 7] ?? 0), w - 7);
  };
  await each(section.nodes, 12, (at) => {
    const [x = 0, y = 0, w = 0, h = 0] = ints.subarray(at, at + 4);
    if (outside(x, y, w + 8, h + 8)) return;
    const style = words[at + 4] ?? 0, kind = style & 255, role = (style >> 8) & 255, flag = style >> 16;
    const accent = colors[roles[role] ?? 'plain'];
    const error = (flag & nodeFlags.error) !== 0;
    const outline = (dx: number, more: string) => {
      const [l, t, r, b] = [x + dx + 0.5, y + dx + 0.5, x + dx + w - 0.5, y + dx + h - 0.5];
      return role === 1 ? `<path d="M${l + 5} ${t}H${r - 5}L${r} ${t + 5}V${b - 5}L${r - 5} ${b}H${l + 5}L${l} ${b - 5}V${t + 5}z" ${more}/>`
        : `<rect ${box(l, t, r - l, b - t)} rx="${role === 0 ? 4 : role === 2 ? Math.min(11, h / 2) : 0}" ${more}/>`;
    };
    if (kind === 4) { // a port
      const name = string(words[at + 6] ?? 0), inner = string(words[at + 7] ?? 0);
      add(`<rect ${box(x + 0.5, y + 0.5, w - 1, h - 1)} rx="${h / 2}" fill="${colors.paper}" stroke="${colors.boxBorder}"/>`);
      word(x + 11, y + 14, 11, 400, colors.ink, inner ? `${name}  ${inner}` : name, w - 14);
      return;
    }
    const tint = tintOf[(at - nodes) / 12] ?? 0;
    const fill = tint ? mix(colors.box, '#' + (tint & 0xffffff).toString(16).padStart(6, '0'), strength(tint) / 127) : colors.box;
    const border = `stroke="${error ? colors.error : colors.boxBorder}"`;
    if (kind === 1 || kind === 3) add(outline(6, `fill="${fill}" ${border}`), outline(3, `fill="${fill}" ${border}`));
    add(outline(0, `fill="${fill}" ${border}${error ? ' stroke-width="1.6"' : ''}`));
    const inset = role === 2 ? Math.min(11, h / 2) * 0.75 : 5;
    if (role === 1) add(`<path d="M${x + 1.6} ${y + inset}v${h - 2 * inset}M${x + 3.85} ${y + inset}v${h - 2 * inset}" stroke="${accent}" stroke-width="1.2"/>`);
    else add(`<path d="M${x + 2.5} ${num(y + inset)}v${num(h - 2 * inset)}" stroke="${accent}" stroke-width="3"${role === 2 ? ' stroke-dasharray="2 2"' : role === 3 ? ' stroke-dasharray="6 2"' : ''}/>`);
    word(x + 9, y + 17, 13, 600, colors.ink, string(words[at + 6] ?? 0), w - 14);
    if (words[at + 7]) word(x + 9, y + 33, 11, 400, colors.ink2, string(words[at + 7] ?? 0), w - 14);
    for (let c = words[at + 9] ?? 0, end = c + (words[at + 10] ?? 0); c < end; ++c) chip(chips + c * 8);
    const loud = flag & (nodeFlags.error | nodeFlags.finding | nodeFlags.unknown | nodeFlags.differs);
    const sign = signs.find((one) => flag & one.flags)?.sign;
    if (sign) {
      const fill = loud ? (flag & (nodeFlags.error | nodeFlags.unknown) ? colors.error : colors.ink2) : colors.box;
      add(`<circle cx="${x + w - 3}" cy="${y + 1}" r="5.5" fill="${fill}" stroke="${loud ? fill : colors.boxBorder}"/>`);
      word(x + w - 3, y + 4.4, 9.6, 600, loud ? colors.paper : colors.ink2, sign, 20, ' text-anchor="middle"');
    }
    add('\n');
  });
  const { size } = letters(beside.scale), unit = 1 / beside.scale;
  for (const { x, y, text } of beside.labels) {
    add(`<text x="${num(rect.x + x * unit)}" y="${num(rect.y + (y + size) * unit)}" class="l" font-size="${num(size * unit)}" fill="${colors.ink2}" stroke="${colors.paper}" stroke-width="${num(HALO * unit)}">${escape(text)}</text>\n`);
  }
  add('</svg>\n');
  return new Blob(parts, { type: 'image/svg+xml' });
}

const num = (n: number): string => String(Math.round(n * 100) / 100);
const box = (x: number, y: number, w: number, h: number): string => `x="${num(x)}" y="${num(y)}" width="${num(Math.max(w, 0))}" height="${num(Math.max(h, 0))}"`;
/** What XML has no place for becomes the replacement character. */
const escape = (text: string): string => text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd').replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function mix(a: string, b: string, t: number): string {
  const [x, y] = [parseInt(a.slice(1), 16), parseInt(b.slice(1), 16)];
  const part = (shift: number) => Math.round(((x >> shift) & 255) * (1 - t) + ((y >> shift) & 255) * t) << shift;
  return '#' + (part(16) | part(8) | part(0)).toString(16).padStart(6, '0');
}

/** Two or four points of a line with right angles, its corners rounded. */
function rounded(points: number[][]): string {
  const at = (p: number[]) => `${num(p[0]!)} ${num(p[1]!)}`;
  if (points.length === 2) return `M${at(points[0]!)}L${at(points[1]!)}`;
  const length = (i: number) => Math.abs(points[i + 1]![0]! - points[i]![0]!) + Math.abs(points[i + 1]![1]! - points[i]![1]!);
  const radius = Math.min(6, length(0), length(1) / 2, length(2));
  const towards = (p: number[], q: number[]) => [p[0]! + Math.sign(q[0]! - p[0]!) * radius, p[1]! + Math.sign(q[1]! - p[1]!) * radius];
  const corner = (i: number) => `L${at(towards(points[i]!, points[i - 1]!))}Q${at(points[i]!)} ${at(towards(points[i]!, points[i + 1]!))}`;
  return `M${at(points[0]!)}${corner(1)}${corner(2)}L${at(points[3]!)}`;
}
