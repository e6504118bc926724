// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0

import { defineConfig } from 'vite';
import { resolve } from 'node:path';

const root = import.meta.dirname;
const wasm = process.env.WEFT_WASM ?? resolve(root, '../build/wasm/wasm');
const out = process.env.WEFT_WEB ?? resolve(root, '../build/web');

// Three builds: the page (mode production) and the workers of the engine and of the command (modes worker, run_worker).
// Names are fixed; tools/pack.mjs adds the modules, the policy and the single file.
export default defineConfig(({ mode }) => ({
  root,
  base: './',
  resolve: { alias: { '@wasm': wasm } },
  build: {
    outDir: out,
    emptyOutDir: mode === 'production',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    ...(mode !== 'production'
      ? {
          lib: { entry: resolve(root, `src/${mode}.ts`), formats: ['iife'], name: 'weftWorker', fileName: () => `${mode}.js` },
          copyPublicDir: false,
        }
      : {
          rollupOptions: {
            output: { entryFileNames: 'main.js', chunkFileNames: '[name].js', assetFileNames: (asset: { names: string[] }) => asset.names[0]?.endsWith('.css') ? 'main.css' : '[name][extname]' },
          },
        }),
  },
  logLevel: 'warn',
}));
