/** Tables: named columns. */
export {
  type CategoryColumn,
  type Cell,
  type Column,
  type GivenColumns,
  type NumberColumn,
  Table,
  table,
} from "./table.js";
