/** The embedded store, in the home folder. */
export const STORE_FILE = 'tenon.db';
