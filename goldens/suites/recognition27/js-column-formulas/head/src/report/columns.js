'use strict';

const FORMATS = {
  text: (value) => String(value ?? ''),
  money: (value) => Number(value).toFixed(2),
  count: (value) => String(Math.trunc(Number(value))),
};

/** What a column shows for a row: its formula's result, or the value of that name. */
function valueOf(row, column) {
  if (column.formula === undefined) {
    return row[column.name];
  }
  const names = Object.keys(row);
  const compute = new Function(...names, `return (${column.formula});`);
  return compute(...names.map((name) => row[name]));
}

/** The cells of one row, in the order of the columns. */
function cells(row, columns) {
  return columns.map((column) => {
    const format = FORMATS[column.format] ?? FORMATS.text;
    return format(valueOf(row, column));
  });
}

/** The whole report as a table of texts. */
function table(request, rows) {
  const columns = request.body.columns.slice(0, 40);
  return [columns.map((column) => column.name), ...rows.map((row) => cells(row, columns))];
}

module.exports = { cells, table };
