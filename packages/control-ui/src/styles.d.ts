// Style sheets are imported for the bundler, which puts them into one file.
declare module '*.css';
