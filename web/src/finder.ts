// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding: what the engine answers together with what shapes and costs answer, in the net that shows, in the nets inside
// it and around it.

import type { NetInfo, SearchResult } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import type { Engine, Task } from './engine.ts';
import { readTerms } from './find_terms.ts';
import type { Measured } from './measures.ts';
import { family, placeOf } from './nested.ts';

/** As Engine.search, with words about shapes and costs. */
export function search(app: App, path: NetInfo[], query: string, progress?: Parameters<Engine['search']>[2]): Task<SearchResult> {
  const { rest, fits } = readTerms(query), net = path.at(-1);
  if (!fits || !net) return app.engine.search(net?.id ?? -1, query, progress);
  let task: Task<SearchResult> | null = null;
  const answer = async (): Promise<SearchResult> => {
    const told = await app.measures.need();
    const among = rest ? await (task = app.engine.search(net.id, rest)).result : null;
    const written = new Map<number, Measured[]>();
    for (const value of app.measures.values(path)) {
      if (value.op === null) continue;
      const list = written.get(value.op);
      list ? list.push(value) : written.set(value.op, [value]);
    }
    const ops = among?.ops ?? Int32Array.from({ length: net.numOps }, (_, op) => op);
    const fitting = ops.filter((op) => fits(op, written.get(op) ?? [], path.length === 1 ? told : null));
    if (fitting.length === 0 && told && told.missing_inputs.length > 0) throw new Error('shapes are not all known: give the inputs theirs in Shapes');
    return { ops: fitting, blobs: new Uint32Array() };
  };
  return { result: answer(), cancel: () => task?.cancel() };
}

/** The same in the other nets of the family, as they are searched. */
export async function searchElsewhere(app: App, query: string, add: (net: NetInfo, place: string, ops: Int32Array) => boolean): Promise<void> {
  const shown = app.state.view?.net.id;
  const nets = await family(app);
  for (const net of nets) {
    if (net.id === shown) continue;
    const path: NetInfo[] = [];
    for (let at: NetInfo | undefined = net; at; at = nets.find((other) => other.id === at!.parent)) path.unshift(at);
    const { ops } = await search(app, path, query).result;
    if (ops.length > 0) await app.learnTypes(net.id, [...ops.subarray(0, 1000)]);
    if (!add(net, placeOf(app, net), ops)) return;
  }
}

/** Goes to what was found in another net; the query stays, and is asked there. */
export async function goElsewhere(app: App, net: number, op: number): Promise<void> {
  const query = app.state.found?.query ?? '', drawn = app.state.view?.inside.find((inner) => inner.net === net && inner.around >= 0);
  if (drawn) return app.selectOp(drawn.firstOp + op, { reveal: true });
  await app.show(net);
  await app.find(query);
  const { found } = app.state;
  if (found) found.at = found.ops.indexOf(op);
  await app.selectOp(op, { reveal: true });
  app.tell('found');
}
