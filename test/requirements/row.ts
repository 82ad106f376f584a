export interface Requirement {
  /** The issue that has to show it, by the number in its title. */
  readonly issue: number | 'later';
  readonly text: string;
}
