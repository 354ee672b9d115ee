// Draw the chart, then fold the still figures; where this fails, they stay open and the chart hidden.
const [figure, chart, bind, still, specification] = ["figure", "panel", "choices", "still", "specification"].map((name) =>
  document.getElementById(`chart-${name}`),
);
figure.hidden = false; // its width is the chart's
try {
  await vegaEmbed(chart, JSON.parse(specification.textContent), { actions: false, renderer: "svg", bind });
  still.open = false;
} catch (problem) {
  figure.hidden = true;
  throw problem;
}
