// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators are called where they are only mentioned: their type and the first blob that they write, asked once.

import type { Engine } from './engine.ts';
import type { State } from './state.ts';

/** What it asks of the page. */
interface Page {
  readonly state: State;
  readonly engine: Engine;
  readonly inPlace: { locate(op: number): { net: number; op: number } };
}

export class Labels {
  private readonly page: Page;
  private readonly known = new Map<string, { type: string; name: string }>();

  constructor(page: Page) {
    this.page = page;
  }

  of(net: number, op: number): { type: string; name: string } | undefined {
    const place = this.place(net, op);
    return this.known.get(`${place.net}:${place.op}`);
  }
  async learn(net: number, ops: number[]): Promise<void> {
    const missing = new Map<number, Set<number>>(); // by net
    for (const op of new Set(ops)) {
      if (op < 0 || this.of(net, op)) continue;
      const place = this.place(net, op);
      missing.set(place.net, (missing.get(place.net) ?? new Set()).add(place.op));
    }
    for (const [id, some] of missing) {
      const list = [...some], { types, names } = await this.page.engine.ask('opLabels', id, list);
      list.forEach((op, i) => this.known.set(`${id}:${op}`, { type: types[i] ?? '', name: names[i] ?? '' }));
    }
  }

  /** In the net that shows, numbers are the scene's. */
  private place(net: number, op: number): { net: number; op: number } {
    return net === this.page.state.view?.net.id ? this.page.inPlace.locate(op) : { net, op };
  }
}
