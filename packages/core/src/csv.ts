// Cells of tables that people open in spreadsheets.

/** What begins a cell: the text itself, or a separator that a spreadsheet may split it at (a semicolon or tab in many languages). */
const STARTS = /(^|[;\t\r\n])(?=[\s\p{C}\p{Z}"'`]*[=+\-@|%＝＋－＠﹢﹣﹦﹫])/gu;

/**
 * A cell of text, quoted. Spreadsheets run what begins like a formula (OWASP, “CSV injection”), so wherever a cell may begin it is marked
 * as text with an apostrophe. Numbers need no cell like this.
 */
export function textCell(text: string | null): string {
  return text === null ? '' : `"${text.replace(STARTS, "$1'").replaceAll('"', '""')}"`;
}
