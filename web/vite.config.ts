// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0

import { defineConfig } from 'vite';
import { resolve } from 'node:path';

const root = import.meta.dirname;
const wasm = process.env.WEFT_WASM ?? resolve(root, '../build/wasm/wasm');
const out = process.env.WEFT_WEB ?? resolve(root, '../build/web');

// Two builds: the page (mode production) and the engine's worker (mode worker). Names are fixed; tools/pack.mjs adds
// the modules, the policy and the single file.
export default defineConfig(({ mode }) => ({
  root,
  base: './',
  resolve: { alias: { '@wasm': wasm } },
  build: {
    outDir: out,
    emptyOutDir: mode !== 'worker',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    ...(mode === 'worker'
      ? {
          lib: { entry: resolve(root, 'src/worker.ts'), formats: ['iife'], name: 'weftWorker', fileName: () => 'worker.js' },
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
