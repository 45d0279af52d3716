// A small plan of the network beside the walk: it shows where in the network a step takes place. It is read from bottom
// to top, as the page's figure is; the walk's list of steps says the same in words. A plan has `parts` (middle, row from
// the bottom, label, and the steps that take place there), `streams` (middle, highest row), and `sources`: from whose
// middle and row the keys and values go to another's.
courseLive.walkPlan = ({ parts, streams, sources = [] }, onstep) => {
  const { element } = courseLive;
  const [WIDTH, HEIGHT, ROW] = [150, 140, 20];
  const middle = row => HEIGHT - (row + 0.5) * ROW;

  const boxes = parts.map(([x, row, label, names]) => {
    const wide = label === "+" ? 14 : 60;
    return element(
      "svg:g",
      { onclick: () => onstep(names[0]) },
      element("svg:rect", {
        x: x - wide / 2,
        y: middle(row) - 7,
        width: wide,
        height: 14,
        rx: label === "+" ? 7 : 3,
      }),
      element("svg:text", { x, y: middle(row) + 3.6 }, label),
    );
  });
  const line = (d, role) => element("svg:path", { d, class: role ? `walk-${role}` : false });
  const crossing = ([from, fromRow, to, toRow], shift, role) => {
    const between = (from + to) / 2 - 4 + shift;
    return line(`M${from} ${middle(fromRow) - shift}H${between}V${middle(toRow) - shift}H${to}`, role);
  };
  const node = element(
    "svg:svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "walk-plan", "aria-hidden": "true" },
    streams.map(([x, row]) => line(`M${x} ${middle(0)}V${middle(row)}`)),
    sources.flatMap(source => [crossing(source, 2, "key"), crossing(source, -2, "value")]),
    boxes,
  );

  const mark = name =>
    boxes.forEach((box, i) => box.classList.toggle("walk-here", parts[i][3].includes(name)));
  return { node, mark };
};
