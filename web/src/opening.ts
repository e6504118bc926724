// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files become documents of the engine, and one of their nets shows.

import type { App } from './app.ts';
import { WeftError } from './engine.ts';
import type { Incoming } from './files.ts';
import { initOf, netTitle } from './state.ts';

export class Opening {
  private readonly app: App;
  private opening = 0; // how often
  private shown = 0; // the last opening that showed its net: one from before it shows no more
  private going = 0; // those that have not ended

  constructor(app: App) {
    this.app = app;
  }

  /** Opens files one after another and shows the largest net that fills no other; what fills the net that shows leaves
   *  it there. Until a single large file is read, a
   *  sketch of it shows. */
  async open(files: Incoming[]): Promise<void> {
    ++this.going;
    await this.openAll(files);
    const { state } = this.app;
    if (--this.going > 0 || !state.sketched) return;
    state.sketched = false; // nothing came of it
    this.app.tell('files');
  }

  private async openAll(files: Incoming[]): Promise<void> {
    const { app } = this, { state } = app;
    const opening = ++this.opening;
    app.timing = { opened: performance.now(), engineOpen: 0, engineScene: 0, firstFrame: 0 };
    app.onProblem(null);
    const failed: { name: string; error: Error }[] = [];
    const opened: number[] = [];
    const sizeOf = (file: Incoming) => file.bytes?.length ?? file.file?.size ?? 0;
    const total = files.reduce((sum, file) => sum + sizeOf(file), 0) || 1;
    let before = 0;
    for (const file of files) {
      const size = sizeOf(file);
      const blob = file.file ?? new Blob([file.bytes as Uint8Array<ArrayBuffer>]);
      let done = before;
      const tell = () => app.working(state.sketched ? `${file.name} in outline, while it is read` : `Reading ${file.name}`, done / total, () => task.cancel());
      const task = app.engine.open(file, (p) => {
        done = before + (p.total ? p.done / p.total : 0) * size;
        tell();
      }, files.length > 1 || state.view ? undefined : (scene) => {
        this.sketch(scene);
        tell();
      });
      try {
        const document = await task.result;
        opened.push(document);
        app.workshop.keep(document, file.name, blob);
        app.timing.engineOpen += app.engine.spent.open ?? 0;
      } catch (error) {
        if (error instanceof WeftError && error.cancelled) break;
        failed.push({ name: file.name, error: error as Error });
      }
      before += size;
    }
    app.working(null);
    if (failed.length > 0) {
      app.onProblem({
        title: failed.length === 1 ? `${failed[0]?.name} could not be read` : `${failed.length} files could not be read`,
        text: failed.map((f) => (failed.length === 1 ? f.error.message : `${f.name}: ${f.error.message}`)).join('\n'),
      });
    }
    if (opened.length === 0) return;
    await app.refresh();
    if (opening < this.shown) return;
    const fresh = state.nets.filter((net) => opened.includes(net.document) && net.parent < 0);
    const inits = new Set(state.pairs.map((pair) => pair.init));
    const best = [...fresh].sort((a, b) => Number(inits.has(a.id)) - Number(inits.has(b.id)) || b.numOps - a.numOps)[0];
    const [here] = app.path(), init = here && initOf(state, here.id)?.init;
    if (here && fresh.every(({ id }) => inits.has(id)) && fresh.some(({ id }) => id === init)) {
      await app.change({}); // other blobs are parameters now
      app.announce(`${netTitle(here, state.documents)} is filled now`);
    } else if (best) {
      this.shown = opening;
      await app.show(best.id);
    } else if (failed.length === 0) app.onWithoutNet();
  }

  private sketch(scene: Uint32Array): void {
    const { app } = this;
    if (app.state.view) return;
    app.state.sketched = app.render.setScene(scene);
    app.tell('files');
    app.view.open();
  }
}
