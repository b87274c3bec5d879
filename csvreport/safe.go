package csvreport

// Safe returns a cell as it should be written into a file that people open in a
// spreadsheet. Such a program takes a cell that begins with = + - @, a tab, a
// carriage return or a line feed for a formula, and may run what a customer typed
// into a reference; Safe puts an apostrophe in front. A plain negative number stays
// as it is, because as a text it would be missing from the spreadsheet's sums.
//
// Use it where cells leave for such a file. The Reader returns all cells as they
// are, and a cell that went through Safe no longer compares equal.
func Safe(cell string) string {
	if cell == "" {
		return cell
	}
	switch cell[0] {
	case '-':
		if _, ok := parseNumber([]byte(cell)); ok {
			return cell
		}
	case '=', '+', '@', '\t', '\r', '\n':
	default:
		return cell
	}
	return "'" + cell
}
