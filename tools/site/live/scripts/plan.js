// A small plan of the Transformer beside the walk: it shows where in the network a step takes place. It is read from
// bottom to top, as the page's figure is; the walk's list of steps says the same in words.
courseLive.walkPlan = onstep => {
  const { element } = courseLive;
  const [WIDTH, HEIGHT, ROW] = [150, 140, 20];
  const LEFT = 38; // middles of the two columns
  const RIGHT = 112;
  // Column, row from the bottom, label, and the steps that take place there.
  const PARTS = [
    [LEFT, 0, "E + P", ["tokens", "embedding", "position"]],
    [LEFT, 1, "LN", ["norm"]],
    [LEFT, 2, "MHA", ["project", "scores", "scaling", "softmax", "mixture", "heads"]],
    [LEFT, 3, "+", ["residual"]],
    [LEFT, 4, "LN FFN", ["hidden"]],
    [LEFT, 5, "+", ["block"]],
    [LEFT, 6, "LN", ["memory"]],
    [RIGHT, 0, "E + P", ["written"]],
    [RIGHT, 1, "LN MHA", ["mask", "causal"]],
    [RIGHT, 2, "+", ["known"]],
    [RIGHT, 3, "LN MHA", ["cross", "alignment", "context"]],
    [RIGHT, 4, "LN FFN +", ["output"]],
    [RIGHT, 5, "LN W", ["logits", "sentence"]],
  ];
  const middle = row => HEIGHT - (row + 0.5) * ROW;

  const boxes = PARTS.map(([x, row, label, names]) => {
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
  const between = (LEFT + RIGHT) / 2;
  const node = element(
    "svg:svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "walk-plan", "aria-hidden": "true" },
    line(`M${LEFT} ${middle(0)}V${middle(6)}`),
    line(`M${RIGHT} ${middle(0)}V${middle(5)}`),
    line(`M${LEFT} ${middle(6) - 2}H${between - 2}V${middle(3) - 2}H${RIGHT}`, "key"),
    line(`M${LEFT} ${middle(6) + 2}H${between - 6}V${middle(3) + 2}H${RIGHT}`, "value"),
    boxes,
  );

  const mark = name =>
    boxes.forEach((box, i) => box.classList.toggle("walk-here", PARTS[i][3].includes(name)));
  return { node, mark };
};
