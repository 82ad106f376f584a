// Style sheets are imported for the bundler, which puts them into one file; `*.later.css` goes with the view that imports it.
declare module '*.css';
