// Style sheets that the console imports: Vite takes them out of the scripts.

declare module '*.css';
