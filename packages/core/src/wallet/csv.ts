// Cells of tables that people open in spreadsheets.

/**
 * The sign of a formula where a cell may begin: at the beginning of the text, or behind a separator that a spreadsheet may split it at (a
 * semicolon or tab in many languages), with whatever it skips in between.
 */
const FORMULAS = /((?:^|[;\t\r\n])[\s\p{C}\p{Z}"'`]*)([=+\-@|%＝＋－＠﹢﹣﹦﹫])/gu;

/**
 * A cell of text, quoted. Spreadsheets run what begins like a formula (OWASP, “CSV injection”), so it is marked as text with an
 * apostrophe. Numbers need no cell like this.
 */
export function textCell(text: string | null): string {
  return text === null ? '' : `"${text.replace(FORMULAS, "$1'$2").replaceAll('"', '""')}"`;
}
