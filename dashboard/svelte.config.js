// Defaults; the file exists so that the build need not remark on its absence.
export default {};
