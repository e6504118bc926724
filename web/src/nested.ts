// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The nets around and inside the one that shows: the outermost and all bodies of its loops, branches and recurrences.

import type { NetInfo } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';

const MOST = 200;
const known = new Map<number, number[]>(); // by net, those directly inside

/** All of them, the outermost first. */
export async function family(app: App): Promise<NetInfo[]> {
  const root = app.path()[0];
  if (!root) return [];
  const ids = [root.id];
  for (let i = 0; i < ids.length && ids.length < MOST; ++i) {
    const id = ids[i] ?? -1;
    let inside = known.get(id);
    if (!inside) {
      const { ops } = await app.engine.search(id, 'type:/^(Async)?If$|While$|^Do$|^Recurrent/').result;
      inside = [];
      for (const op of ops.subarray(0, MOST)) inside.push(...(await app.engine.ask('nestedNets', id, op)));
      known.set(id, inside);
    }
    ids.push(...inside);
  }
  if (ids.some((id) => !app.state.nets.some((net) => net.id === id))) await app.refresh();
  return ids.map((id) => app.state.nets.find((net) => net.id === id)).filter((net) => net !== undefined);
}

/** Goes to an operator of a net inside the outermost one, by its path in commands: "4.loop_net/0.then_net". */
export async function goInside(app: App, path: string, op: number): Promise<void> {
  const nets = await family(app);
  let net: NetInfo | undefined = nets[0];
  for (const part of path.split('/').filter(Boolean)) net = nets.find((inner) => inner.parent === net?.id && `${inner.parentOp}.${inner.parentArg}` === part);
  if (!net) return;
  await app.show(net.id);
  await app.selectOp(op, { reveal: true });
}

/** "4 loop_net › 0 then_net", from the outermost net on. */
export function placeOf(app: App, net: NetInfo): string {
  const parts: string[] = [];
  for (let at: NetInfo | undefined = net; at && at.parent >= 0; at = app.state.nets.find((other) => other.id === at!.parent)) parts.unshift(`${at.parentOp} ${at.parentArg}`);
  return parts.join(' › ') || 'the net around';
}
