package links

// Flights returns the number of requests and fetches that hold a flight.
func Flights(s *Store) (n int) {
	s.flights.mu.Lock()
	defer s.flights.mu.Unlock()
	for _, f := range s.flights.open {
		n += f.holds
	}
	return n
}
