package durable

// WithStep sets what is called before and after each durable step.
func (o Options[TTx]) WithStep(step func(name string)) Options[TTx] {
	o.step = step
	return o
}
