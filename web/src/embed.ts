// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The page inside another page: messages in, events out; web/README.md describes them. Messages are data, never code.
// Only the page around is heard, whatever its origin: it can do no more than a person at this page, and is told only
// about nets that it gave itself.

import type { App } from './app.ts';

type Message = Record<string, unknown>;

export function embed(app: App): void {
  if (parent === window) return;
  let origin = ''; // of the page around, once it gave a net
  const given = new Set<number>(); // documents
  const send = (message: Message, to: string) => parent.postMessage(message, to === 'null' ? '*' : to);
  const own = () => given.has(app.state.view?.net.document ?? -1);
  const shown = () => {
    const net = app.state.view?.net;
    if (!net || !own()) throw new Error(net ? 'the net that shows is not from this page' : 'no net is open');
    return net;
  };

  const acts: Record<string, (message: Message) => Promise<Message>> = {
    async open(message) {
      const files = (Array.isArray(message.files) ? message.files : [message]).map(fileOf);
      const before = new Set(app.state.documents.map((document) => document.id));
      const problem = app.onProblem;
      let failed = '';
      app.onProblem = (what) => {
        failed = what ? `${what.title}: ${what.text}` : failed;
        problem(what);
      };
      await app.open(files).finally(() => (app.onProblem = problem));
      for (const document of app.state.documents) if (!before.has(document.id)) given.add(document.id);
      if (failed) throw new Error(failed);
      return { nets: app.state.nets.filter((net) => net.parent < 0 && given.has(net.document)).map(({ name, numOps }) => ({ name, operators: numOps })) };
    },
    async select({ op, blob, version }) {
      const net = shown();
      if (Number.isInteger(op) && (op as number) >= 0 && (op as number) < net.numOps) {
        await app.selectOp(op as number);
        await app.revealFully();
      } else if (typeof blob === 'string') await app.selectBlobNamed(blob, typeof version === 'number' ? version : undefined, { reveal: true });
      else if (op === null) app.select(null);
      else throw new Error(`expected op, 0 to ${net.numOps - 1}, or blob, a name`);
      return {};
    },
    async find({ query }) {
      shown();
      if (typeof query !== 'string') throw new Error('expected query, a text');
      await app.find(query);
      const { found } = app.state;
      if (found?.error) throw new Error(found.error);
      return { operators: [...(found?.ops ?? []).slice(0, 10_000)] };
    },
  };

  addEventListener('message', (event: MessageEvent<unknown>) => {
    const message = event.data as Message | null;
    if (event.source !== parent || typeof message !== 'object' || message === null || typeof message.weft !== 'string') return;
    const act = Object.hasOwn(acts, message.weft) ? acts[message.weft] : undefined;
    const id = ['string', 'number'].includes(typeof message.id) ? { id: message.id } : {};
    if (message.weft === 'open') origin = event.origin;
    void (act ? act(message) : Promise.reject(new Error(`there is no message ${message.weft}; expected open, select or find`)))
      .then((answer) => send({ weft: message.weft === 'open' ? 'opened' : 'done', ...id, ...answer }, event.origin))
      .catch((error: Error) => send({ weft: 'error', ...id, message: error.message }, event.origin));
  });

  app.on(['selection'], () => {
    if (!origin || !own()) return;
    const { selection, view } = app.state;
    const about = !selection || (selection.what === 'op' && app.inPlace.locate(selection.op).inside) ? { what: 'nothing' }
      : selection.what === 'op' ? { what: 'op', op: selection.op, type: selection.details?.type }
      : selection.what === 'ops' ? { what: 'ops', ops: [...selection.ops] }
      : selection.what === 'scope' ? { what: 'scope', path: selection.info?.path }
      : { what: 'blob', blob: selection.details?.name, version: selection.details?.versions.find((v) => v.value === selection.value)?.version ?? 0 };
    send({ weft: 'selected', net: view?.net.name ?? '', ...about }, origin);
  });
  send({ weft: 'ready' }, '*'); // says no more than that it is there
}

function fileOf(file: unknown): { name: string; bytes: Uint8Array } {
  const { name, bytes } = (file ?? {}) as Message;
  const data = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : typeof bytes === 'string' ? new TextEncoder().encode(bytes) : null;
  if (typeof name !== 'string' || !data) throw new Error('expected name, a text, and bytes, an ArrayBuffer, a view of one, or the text of a net');
  return { name, bytes: new Uint8Array(data) }; // a copy: the engine takes it
}
