// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tools work with: the files of what is open, as commands name them, and nets that commands made, shown before
// they are accepted.

import type { NetInfo, ViewOptions } from '../../wasm/weft.d.ts';
import type { Command, File, Made } from './command.ts';
import type { Engine } from './engine.ts';
import type { Incoming } from './files.ts';
import { type Preview, type State, initOf } from './state.ts';

/** What it asks of the page. */
interface Page {
  readonly state: State;
  readonly engine: Engine;
  path(): NetInfo[];
  open(files: Incoming[]): Promise<void>;
  refresh(): Promise<void>;
  change(options: ViewOptions): Promise<void>;
  show(net: number, how?: { likeNow?: boolean }): Promise<void>;
  close(document: number): Promise<void>;
  tell(topic: 'preview'): void;
}

export class Workshop {
  readonly command: Command;
  private readonly page: Page;
  private readonly sources = new Map<number, File>(); // by document
  private readonly origins = new Map<number, string>(); // by document that a command made: what it was made of
  private readonly chosenInits = new Map<number, number>(); // by net, see Session.chooseInit
  private turns: Promise<void> = Promise.resolve();
  /** Nets that commands made and somebody kept open, as long as they are not saved; by document. */
  readonly unsaved = new Map<number, Preview>();
  private leaving: Preview | null = null; // shows still while the next one, or the net before, comes

  constructor(page: Page, command: Command) {
    this.page = page;
    this.command = command;
  }

  /** Remembers the file of a document; its name becomes the commands' name for it. */
  keep(document: number, name: string, blob: Blob): void {
    const taken = new Set([...this.sources.values()].map((file) => file.name));
    const plain = name.replaceAll('/', '_') || 'net.pb';
    let free = plain;
    for (let i = 2; taken.has(free); ++i) free = `${i}-${plain}`;
    this.sources.set(document, { name: free, blob });
  }
  /** Says which net this is, or was made of: the same after a reload. */
  origin(net: NetInfo): string {
    return this.origins.get(net.document) ?? `${this.sources.get(net.document)?.name ?? ''}#${net.name}`;
  }
  /** The net that commands are about: the outermost around the one that shows; what a preview was made of. */
  base(): NetInfo | null {
    const { preview, nets } = this.page.state, shown = this.page.path()[0];
    const made = shown && [preview, this.leaving].find((one) => one?.document === shown.document);
    return made ? nets.find((net) => net.id === made.base) ?? null : shown ?? null;
  }
  /** How a command names a net, and the file that it needs for that. */
  fileOf(net: NetInfo): { word: string; file: File } {
    const file = this.sources.get(net.document);
    if (!file || net.parent >= 0) throw new Error('commands take nets that stand in a file');
    const alone = this.page.state.nets.filter((other) => other.document === net.document && other.parent < 0).length === 1;
    return { word: alone ? file.name : `${file.name}#${net.name}`, file };
  }
  /** The init net that fills the net's inputs, where one is open. */
  initOf(net: NetInfo): NetInfo | null {
    const init = initOf(this.page.state, net.id)?.init;
    return this.page.state.nets.find((n) => n.id === init) ?? null;
  }
  /** The net that somebody chose to fill this one: -1 for none, -2 where the contents say. */
  chosenInit(net: NetInfo): number {
    const init = this.chosenInits.get(net.id) ?? -2;
    return init < 0 || this.page.state.nets.some((n) => n.id === init) ? init : -2;
  }
  async chooseInit(net: NetInfo, init: number): Promise<void> {
    await this.page.engine.ask('chooseInit', net.id, init);
    this.chosenInits.set(net.id, init);
    await this.page.refresh();
    await this.page.change({}); // other blobs are parameters now
  }
  /** False for weights. */
  hasNet(file: File): boolean {
    return this.page.state.nets.some((net) => this.sources.get(net.document) === file);
  }
  /** Of everything that is open. */
  files(): File[] {
    return [...this.sources.values()];
  }

  /**
   * Shows what a command made of the base net, instead of an older preview. `likeNow` keeps camera and selection, for a
   * preview that follows choices.
   */
  showPreview(what: string, made: Made, words: string[], { likeNow = false } = {}): Promise<void> {
    const turn = this.turns.then(() => this.showPreviewNow(what, made, words, likeNow));
    this.turns = turn.catch(() => {});
    return turn;
  }
  private async showPreviewNow(what: string, made: Made, words: string[], likeNow: boolean): Promise<void> {
    const base = this.base();
    if (!base) return;
    const old = this.page.state.preview;
    const blob = new Blob([made.bytes as Uint8Array<ArrayBuffer>]);
    const document = await this.page.engine.open({ name: made.name, bytes: made.bytes }).result;
    this.keep(document, made.name, blob);
    this.origins.set(document, this.origin(base));
    this.page.state.preview = { base: base.id, document, what, name: made.name, blob, words };
    this.leaving = old;
    if (old) {
      await this.page.engine.ask('close', old.document);
      this.sources.delete(old.document);
    }
    await this.page.refresh();
    this.page.tell('preview');
    const net = this.page.state.nets.find((n) => n.document === document && n.parent < 0);
    if (net) await this.page.show(net.id, { likeNow: likeNow && !!old });
  }
  /** The preview becomes an open file like others, or goes. */
  async endPreview(keep: boolean): Promise<void> {
    const { preview } = this.page.state;
    if (!preview) return;
    this.page.state.preview = null;
    this.leaving = keep ? null : preview;
    if (keep && !preview.saved) this.unsaved.set(preview.document, preview);
    this.page.tell('preview');
    if (keep) return;
    await this.page.show(preview.base);
    await this.page.close(preview.document);
  }
  /** Opens what a command made of the base net, to be kept and saved. */
  async openMade(what: string, files: File[], words: string[]): Promise<void> {
    const base = this.base()?.id ?? -1, before = new Set(this.page.state.documents.map(({ id }) => id));
    await this.page.open(files.map(({ name, blob }) => ({ name, file: new window.File([blob], name) })));
    for (const { id, name } of this.page.state.documents) {
      const made = before.has(id) ? undefined : files.find((file) => file.name === name);
      if (made) this.unsaved.set(id, { base, document: id, what: `${name}, ${what}`, name, blob: made.blob, words });
    }
    this.page.tell('preview');
  }
  /** It is saved now. */
  saved(document: number): void {
    const { preview } = this.page.state;
    if (preview?.document === document) preview.saved = true;
    this.unsaved.delete(document);
    this.page.tell('preview');
  }
  forget(document: number): void {
    this.sources.delete(document);
    this.unsaved.delete(document);
    if (this.page.state.preview?.document !== document) return;
    this.page.state.preview = null;
    this.page.tell('preview');
  }
}
