import { mount } from 'svelte';
import './palette.css';
import './page.css';
import App from './App.svelte';

mount(App, { target: document.body });
