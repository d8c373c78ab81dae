import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { singleFile } from './single_file.js';

export default defineConfig({
  plugins: [svelte(), singleFile()],
  build: { target: 'es2022', cssCodeSplit: false, modulePreload: false, assetsInlineLimit: 1e9 },
});
