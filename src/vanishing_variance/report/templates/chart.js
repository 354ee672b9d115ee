// Draw the charts within an element, each with the look of its curves beside their boxes, and fold the still figures.
globalThis.drawCharts = (root) => Promise.all([...root.querySelectorAll(".chart")].map(draw));

async function draw(figure) {
  const [chart, bind, specification, still] = ["panel", "choices", "specification", "still"].map((name) =>
    document.getElementById(figure.id.replace("figure", name)),
  );
  figure.hidden = false; // its width is the chart's
  try {
    const { view } = await vegaEmbed(chart, JSON.parse(specification.textContent), { actions: false, renderer: "svg", bind });
    const [colour, dashes] = [view.scale("color"), view.scale("strokeDash")];
    const curves = colour.domain();
    bind.querySelectorAll("[type=checkbox]").forEach((box, place) => {
      const look = `stroke="${colour(curves[place])}" stroke-dasharray="${dashes(curves[place])}"`;
      box.insertAdjacentHTML("afterend", `<svg aria-hidden="true" width="36" height="10"><path d="M0 5H32" stroke-width="3" ${look}/></svg>`);
    });
    if (still) still.open = false;
  } catch (problem) {
    figure.hidden = true; // and the still figures stay open
    throw problem;
  }
}

await drawCharts(document);
