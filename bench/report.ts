// What a run found, for people (a table, a Markdown table) and for programs (JSON).
import type { Budget, FigureRow, Unit } from './budgets.ts';
import type { Measured } from './rounds.ts';

export interface Report {
  readonly measuredAt: string;
  readonly machine: string;
  readonly node: string;
  readonly commit: string;
  readonly quick: boolean;
  readonly figures: readonly ReportedFigure[];
  /** What could not be measured, and why. */
  readonly failures: readonly string[];
}

export interface ReportedFigure extends FigureRow, Measured {
  /** Undefined where there is no budget. */
  readonly met?: boolean;
}

export function judge(row: FigureRow, result: Measured): ReportedFigure {
  return { ...row, ...result, ...(row.budget ? { met: isMet(row.budget, result) } : {}) };
}

function isMet(budget: Budget, { figure, ratio }: Measured): boolean {
  if (budget.kind === 'ratio') return ratio !== undefined && ratio <= budget.atMost;
  return budget.kind === 'at-most' ? figure <= budget.value : figure >= budget.value;
}

const HEADINGS = ['', 'figure', 'limit', 'ratio', 'spread', 'budget', ''];

export function toTable(figures: readonly ReportedFigure[]): string {
  const rows = [HEADINGS, ...figures.map((figure) => [figure.what, ...cells(figure)])];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 || column > 4 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function toMarkdown(figures: readonly ReportedFigure[]): string {
  const lines = figures.map((figure) => `| ${[figure.what, ...cells(figure), figure.limitIs ?? ''].join(' | ')} |`);
  return ['| what | figure | limit | ratio | spread | budget | | the limit is |', '|---|--:|--:|--:|--:|---|---|---|', ...lines]
    .join('\n')
    .replace(/\| {2}(?=\|)/g, '| ');
}

function cells({ figure, limit, ratio, spread, rounds, unit, budget, met }: ReportedFigure): string[] {
  return [
    amount(figure, unit),
    limit === undefined ? '' : amount(limit, unit),
    ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
    rounds.figure.length === 1 ? '' : `± ${Math.round(spread * 100)} %`,
    budget === undefined ? '' : budgetText(budget, unit),
    met === undefined ? '' : met ? 'met' : 'missed',
  ];
}

function budgetText(budget: Budget, unit: Unit): string {
  if (budget.kind === 'ratio') return `≤ ${budget.atMost} ×`;
  return `${budget.kind === 'at-most' ? '≤' : '≥'} ${amount(budget.value, unit)}`;
}

function amount(value: number, unit: Unit): string {
  if (unit === '/s') return `${Math.round(value).toLocaleString('en')}/s`;
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return `${Number(value.toFixed(digits))} ${unit}`;
}
