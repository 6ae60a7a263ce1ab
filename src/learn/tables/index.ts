/** Tables: named columns, in memory and from files. */
export type { ArrowTable } from "./arrow.js";
export { type CsvOptions, csvText, parseCsv, readCsv, writeCsv } from "./csv.js";
export { type ParquetOptions, readParquet } from "./parquet.js";
export {
  type CategoryColumn,
  type Cell,
  type Column,
  categories,
  type GivenColumns,
  type GivenRows,
  type NumberColumn,
  Table,
  table,
} from "./table.js";
