// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft shapes` told about the nets that are open: types, shapes, bytes and lives of their values, costs of their
// operators. One answer for each outermost net, with the nets inside it; asked for again when shapes of inputs change.

import type { NetInfo } from '../../wasm/weft.d.ts';
import type { File } from './command.ts';
import type { Task } from './engine.ts';
import type { Drawn, State } from './state.ts';
import type { Workshop } from './workshop.ts';

/** A count or bytes: a number, a formula of symbols, '?' for what depends on data, null for what nobody knows. */
export type Amount = number | string | null;
export interface Measured {
  name: string; version: number; op: number | null; net: string;
  kind: 'tensor' | 'object' | 'unknown'; type: string | null; shape: Amount[] | '?' | null; bytes: Amount;
  live?: [number, number]; // the first and last operator while which it holds its bytes
}
export interface Costs { flops: Amount; read: Amount; written: Amount; parameters: Amount }
export interface OpCosts extends Costs { op: number; type: string }
/** One run of a net inside an operator. */
export interface NestedCosts { net: string; operators: Omit<OpCosts, 'parameters'>[] }
export interface Told {
  net: string; whole: boolean; blobs: Measured[]; operators: OpCosts[]; nested: NestedCosts[];
  scopes: (Costs & { scope: string; operators: number; unknown: number })[];
  total: Costs & { operators: number; unknown: number; parameter_bytes: Amount; state: Amount; state_bytes: Amount };
  live: number[]; peak: { bytes: Amount; op: number | null; unsized: number };
  missing_inputs: string[];
  findings: { code: string; severity: 'note' | 'warning' | 'error'; message: string; op: number; blob: string; net: string }[];
}

/** Shape and type of an input as somebody typed them. */
export interface Given { shape: string; type: string }

/** What it asks of the page. */
interface Page {
  readonly state: State;
  readonly workshop: Workshop;
  readonly inPlace: { drawn(): Drawn[] };
  path(): NetInfo[];
  on(topics: 'files'[], listener: () => void): void;
  tell(topic: 'measures'): void;
}

interface Answer {
  words: string[]; // the command that told it
  told: Told;
  values: Map<string, Measured[]>; // by path of the net, then by value
}

export class Measures {
  private readonly page: Page;
  /** Inputs that somebody has to tell, by net, once it was asked. */
  readonly external = new Map<number, string[]>();
  private readonly answers = new Map<number, Answer>();
  private readonly given = remembered(); // by net as Workshop.origin names it, then by blob
  private readonly filledBy = new Map<number, number>(); // net and init net, when it was asked

  constructor(page: Page) {
    this.page = page;
    // Another init net fills other inputs.
    page.on(['files'], () => {
      for (const [id, init] of this.filledBy) {
        if (this.initOf(id) === init) continue;
        for (const map of [this.filledBy, this.external, this.answers]) map.delete(id);
      }
    });
  }
  private initOf(net: number): number {
    return this.page.state.pairs.find((pair) => pair.net === net)?.init ?? -1;
  }

  /** The net that is measured: the outermost around the one that shows. */
  net(): NetInfo | null {
    return this.page.path()[0] ?? null;
  }
  told(): Told | null {
    return this.answers.get(this.net()?.id ?? -1)?.told ?? null;
  }
  /** The command that told it. */
  asked(): string[] {
    return this.answers.get(this.net()?.id ?? -1)?.words ?? [];
  }
  /** What the command was told of this net's inputs and init net when it last answered, and the files that it read. */
  known(net: NetInfo): { words: string[]; files: File[] } | null {
    const answer = this.answers.get(net.id);
    return answer ? { words: answer.words.slice(2), files: this.words(net, '--input').files } : null;
  }
  /** The values of a net, by id; of the one that shows when none is named. */
  values(path = this.page.path()): Measured[] {
    const inside = path.slice(1).map((net) => `${net.parentOp}.${net.parentArg}`).join('/');
    return this.answers.get(path[0]?.id ?? -1)?.values.get(inside) ?? [];
  }
  /** By its number in the scene. */
  value(id: number): Measured | undefined {
    const at = this.page.inPlace.drawn().filter(({ firstValue }) => id >= firstValue).at(-1);
    return at && this.answers.get(this.net()?.id ?? -1)?.values.get(at.path)?.[id - at.firstValue];
  }
  /** "8×64×56×56 float, 51.4 MB" of a value of the net that shows; empty when nothing is known. */
  text(id: number): string {
    const value = this.value(id);
    return value ? [shapeText(value), value.shape && value.type !== 'float' ? ` ${value.type}` : '', value.bytes ? `, ${amount(value.bytes, 'B')}` : ''].join('') : '';
  }

  /** "1.9 G flop, reads 4.9 MB, writes 25.7 MB" of an operator of the scene. */
  cost(op: number): string {
    const told = this.told(), at = this.page.inPlace.drawn().filter(({ firstOp }) => op >= firstOp).at(-1);
    const cost = at && (at.path ? told?.nested.find(({ net }) => net === at.path)?.operators : told?.operators)?.[op - at.firstOp];
    return cost && cost.flops !== null ? `${amount(cost.flops)} flop, reads ${amount(cost.read, 'B')}, writes ${amount(cost.written, 'B')}` : '';
  }

  /** What somebody said about the net's inputs. */
  inputs(net: NetInfo): Map<string, Given> {
    const key = this.page.workshop.origin(net);
    let have = this.given.get(key);
    if (!have) this.given.set(key, (have = new Map()));
    return have;
  }
  /** What is made of the net, and what it was made of, hear of it too. */
  give(net: NetInfo, blob: string, given: Given): void {
    this.inputs(net).set(blob, given);
    const { workshop, state } = this.page, key = workshop.origin(net);
    for (const other of state.nets) if (other.id !== net.id && workshop.origin(other) === key) this.answers.delete(other.id);
    remember(this.given);
  }

  /** The words that say what the net's inputs are, for `option`, and the files that they and the net stand in. */
  words(net: NetInfo, option: string): { words: string[]; init: string | null; net: string; files: File[] } {
    const { workshop } = this.page;
    const { word, file } = workshop.fileOf(net);
    const init = workshop.initOf(net);
    const from = init && workshop.fileOf(init);
    const words = [...this.inputs(net)].filter(([blob, { shape }]) => shape.trim() && this.external.get(net.id)?.includes(blob))
      .flatMap(([blob, { shape, type }]) => [option, `${blob}=${shape.replaceAll(/[\s[\]()]/g, '').replaceAll(/[×x;]/g, ',')}${type === 'float' ? '' : ':' + type}`]);
    return { words, init: from?.word ?? null, net: word, files: from ? [file, from.file] : [file] };
  }
  /** Asks the command. A first time without inputs, to learn which are needed. */
  ask(net: NetInfo): Task<Told> {
    const known = this.external.has(net.id);
    let task = this.run(net);
    const result = task.result.then(async (first) => {
      if (known) return first;
      this.filledBy.set(net.id, this.initOf(net.id));
      this.external.set(net.id, first.told.missing_inputs);
      if (!first.told.missing_inputs.some((blob) => this.inputs(net).get(blob)?.shape)) return first;
      task = this.run(net);
      return task.result;
    }).then((answer) => {
      this.answers.set(net.id, answer);
      this.page.tell('measures');
      return answer.told;
    });
    return { result, cancel: () => task.cancel() };
  }
  /** The answer for the net that shows, asked for when there is none. */
  async need(): Promise<Told | null> {
    const net = this.net();
    return net ? this.answers.get(net.id)?.told ?? this.ask(net).result : null;
  }
  private run(net: NetInfo): Task<Answer> {
    const { words, init, net: word, files } = this.words(net, '--input');
    const line = ['shapes', word, ...(init ? ['--init', init] : []), ...words];
    const task = this.page.workshop.command.json<Told>(line, files);
    return { cancel: task.cancel, result: task.result.then(({ value: told }) => {
      const values = new Map<string, Measured[]>();
      for (const blob of told.blobs) {
        const list = values.get(blob.net);
        list ? list.push(blob) : values.set(blob.net, [blob]);
      }
      return { words: line, told, values };
    }) };
  }
}

// What was typed is there again after a reload of this tab. It stays in the browser.
const STORE = 'weft-shapes', MOST_REMEMBERED = 500;
function remembered(): Map<string, Map<string, Given>> {
  const out = new Map<string, Map<string, Given>>();
  try {
    for (const [net, blob, given] of JSON.parse(sessionStorage.getItem(STORE) ?? '[]') as [string, string, Given][]) {
      if (typeof given.shape === 'string' && typeof given.type === 'string') out.set(net, (out.get(net) ?? new Map<string, Given>()).set(blob, given));
    }
  } catch {
    // No storage here, or something else's.
  }
  return out;
}
function remember(all: Map<string, Map<string, Given>>): void {
  try {
    sessionStorage.setItem(STORE, JSON.stringify([...all].flatMap(([net, of]) => [...of].map(([blob, given]) => [net, blob, given])).slice(-MOST_REMEMBERED)));
  } catch {
    // Then it lasts for this visit.
  }
}

const units = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
/** As the command writes it: "926.6 MB", "198.5 G"; formulas as they are. */
export function amount(n: Amount, unit = ''): string {
  if (n === null) return 'unknown';
  if (typeof n === 'string') return unit && n !== '?' ? `${n} ${unit}` : n;
  if (n < 1000) return `${n}${unit && ' '}${unit}`;
  let at = 0;
  for (; n >= 999.95 && at + 1 < units.length; ++at) n /= 1000;
  return `${n.toFixed(1)} ${unit === 'B' && at === 1 ? 'K' : units[at]}${unit}`;
}

/** "8×64×56×56", "scalar", "object". */
export function shapeText({ kind, shape }: Measured): string {
  if (kind === 'object') return 'no tensor';
  if (!shape) return '';
  return shape === '?' ? 'shape by data' : shape.length > 0 ? shape.map((d) => d ?? '?').join('×') : 'scalar';
}

/** To sort by and to compare: symbols count as 64, as the command compares moments; -1 for what nobody knows. */
export function size(n: Amount): number {
  if (typeof n === 'number') return n;
  const sum = (n ?? '').split('+').reduce((all, term) => all + term.split('*').reduce((product, factor) => product * (Number(factor) || 64), 1), 0);
  return n === null || n === '?' || Number.isNaN(sum) ? -1 : sum;
}

export const live = (told: Told, op: number): Measured[] => told.blobs.filter((blob) => blob.live && blob.live[0] <= op && op <= blob.live[1] && blob.net === '');
