// In the bundle, what the client has to know of the methods that only later views call, and the checks of their answers: the
// build writes it (scripts/page/protocol-plugin.ts). Outside of it the client has the whole tables, and nobody needs this.
export {};
